-- step:    joined_member
-- mode:    append temp.changed_member
-- purpose: The situations of the stages to join, all under one name.
-- reads:   stage_member
-- writes:  changed_member(vertex_id, name, shown_name)
-- params:  staging_id INTEGER, the staging
--          stage_ids BIGINT[], the stages to join
--          shown_name VARCHAR, the name to show, or null
-- source:  serves joining, splitting and renaming stages by hand
select
    vertex_id,
    'joined' as name,
    $shown_name as shown_name
from cegdb.stage_member
where staging_id = $staging_id and list_contains(cast($stage_ids as bigint[]), stage_id)
