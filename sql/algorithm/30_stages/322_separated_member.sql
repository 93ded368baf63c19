-- step:    separated_member
-- mode:    append temp.changed_member
-- purpose: The situations of the stage to split, each under its own name.
-- reads:   stage_member
-- writes:  changed_member(vertex_id, name)
-- params:  staging_id INTEGER, the staging
--          stage_id BIGINT, the stage to split
-- source:  serves joining, splitting and renaming stages by hand
select
    vertex_id,
    'part ' || vertex_id as name
from cegdb.stage_member
where staging_id = $staging_id and stage_id = $stage_id
