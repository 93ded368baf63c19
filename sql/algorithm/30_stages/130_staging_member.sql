-- step:    staging_member
-- mode:    append cegdb.stage_member
-- purpose: The stage of each situation.
-- reads:   situation_stage
-- writes:  stage_member(staging_id, vertex_id, stage_id)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          docs/architecture.md, section Tables
select
    $staging_id as staging_id,
    vertex_id,
    stage_id
from temp.situation_stage
order by vertex_id
