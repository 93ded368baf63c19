-- step:    learnable_answer
-- mode:    create
-- purpose: The input of learning: for each situation its starting stage, and the count and
--          prior of each label.
-- reads:   learnable, situation_edge, edge_prior, edge_size
-- writes:  learnable_answer(hyperstage_id, vertex_id, label_id, stage_id, prior, n, size)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering)
select
    s.hyperstage_id,
    s.vertex_id,
    e.label_id,
    s.stage_id,
    a.prior,
    e.n,
    cast(z.size as double) as size
from temp.learnable as s
inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
inner join temp.edge_prior as a on e.child_id = a.child_id
left join temp.edge_size as z on e.child_id = z.child_id
order by s.hyperstage_id, s.vertex_id, e.label_id
