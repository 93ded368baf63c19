-- step:    situation_size
-- mode:    create
-- purpose: What each label of each situation counts: its rows, or their effective count with
--          weights or a design effect.
-- reads:   situation_stage, situation_edge, edge_size
-- writes:  situation_size(hyperstage_id, vertex_id, stage_id, label_id, size)
-- params:  none
-- source:  docs/theory.md, section 17 (Uncertainty of answers)
select
    s.hyperstage_id,
    s.vertex_id,
    s.stage_id,
    e.label_id,
    cast(coalesce(z.size, e.n) as double) as size
from temp.situation_stage as s
inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
left join temp.edge_size as z on e.child_id = z.child_id
