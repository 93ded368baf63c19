-- step:    named_member
-- mode:    create
-- purpose: The stage of each situation of a staging by name, or by u and its id if it has none.
-- reads:   stage_member, stage
-- writes:  named_member(vertex_id, stage)
-- params:  staging_id INTEGER, the staging
-- source:  serves learning that starts from, or keeps, the stages of another staging
select
    m.vertex_id,
    coalesce(s.name, 'u' || m.stage_id) as stage
from cegdb.stage_member as m
inner join cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id
where m.staging_id = $staging_id
