-- step:    staging_member
-- mode:    append cegdb.stage_member
-- purpose: The stage of each situation.
-- reads:   situation_stage
-- writes:  stage_member(staging_id, vertex_id, stage_id)
-- params:  staging_id INTEGER, the staging
-- source:  DESIGN 4
select
    $staging_id as staging_id,
    vertex_id,
    stage_id
from temp.situation_stage
order by vertex_id
