-- step:    counted_edge
-- mode:    create
-- purpose: Each edge of the tree below a CEG or staged tree: the rows that take it, what they
--          count (effectively, with weights or a design effect), and the posterior of its
--          stage.
-- reads:   situation_edge, vertex_position, situation_stage, stage_estimate, edge_size
-- writes:  counted_edge(child_id, parent_id, position_id, label_id, n, size, stage_id,
--          answer, probability, total)
-- params:  none
-- source:  docs/theory.md, section 17 (Uncertainty of answers)
select
    e.child_id,
    e.vertex_id as parent_id,
    p.position_id,
    e.label_id,
    e.n,
    cast(coalesce(z.size, e.n) as double) as size,
    s.stage_id,
    t.row_index as answer,
    t.probability,
    t.total
from temp.situation_edge as e
inner join temp.vertex_position as p on e.vertex_id = p.vertex_id
inner join temp.situation_stage as s on e.vertex_id = s.vertex_id
inner join temp.stage_estimate as t on s.stage_id = t.stage_id and e.label_id = t.label_id
left join temp.edge_size as z on e.child_id = z.child_id
