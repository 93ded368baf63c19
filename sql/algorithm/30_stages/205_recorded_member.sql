-- step:    recorded_member
-- mode:    create
-- purpose: The stage of each situation of a staging, with its hyperstage and how it was made:
--          the starting point for learning the stages again.
-- reads:   stage_member, stage
-- writes:  recorded_member(vertex_id, hyperstage_id, stage_id, kind)
-- params:  staging_id INTEGER, the staging
-- source:  serves the bootstrap of stagings, which learns the stages again
select
    m.vertex_id,
    s.hyperstage_id,
    m.stage_id,
    s.kind
from cegdb.stage_member as m
inner join cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id
where m.staging_id = $staging_id
