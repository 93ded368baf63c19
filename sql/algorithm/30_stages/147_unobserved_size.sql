-- step:    unobserved_size
-- mode:    create
-- purpose: What each label counts in the situations of a hyperstage, beside each of its stages
--          that nobody reached. Counts are effective with weights or a design effect.
-- reads:   situation_stage, situation_edge, edge_size
-- writes:  unobserved_size(stage_id, vertex_id, label_id, size)
-- params:  none
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
with unobserved as (
    select distinct
        hyperstage_id,
        stage_id
    from temp.situation_stage
    where kind = 'unobserved'
)

select
    u.stage_id,
    s.vertex_id,
    e.label_id,
    cast(coalesce(z.size, e.n) as double) as size
from unobserved as u
inner join temp.situation_stage as s on u.hyperstage_id = s.hyperstage_id
inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
left join temp.edge_size as z on e.child_id = z.child_id
