-- step:    layer_signature
-- mode:    create
-- purpose: Stage and floret of each situation of one height in G_{i-1}, where everything
--          lower is merged: equal rows are the same position.
-- reads:   staged_edge, position_of
-- writes:  layer_signature(vertex_id, stage_id, floret)
-- params:  height INTEGER, edges to a leaf on the LONGEST path, >= 1 (not the paper's
--          shortest, which misses merges where leaves lie at different depths)
-- source:  Shenvi & Smith (2020), Theorem 1; SPEC 2.2, Theorem 1'
select
    e.vertex_id,
    e.stage_id,
    list_sort(list(struct_pack(label_id := e.label_id, target_id := p.position_id))) as floret
from temp.staged_edge as e
inner join temp.position_of as p on e.child_id = p.vertex_id
where e.height = $height
group by e.vertex_id, e.stage_id
