-- step:    renamed_stage
-- mode:    append cegdb.stage
-- purpose: The stages of a staging, some with new names, for a copy of it.
-- reads:   stage
-- writes:  stage(staging_id, stage_id, hyperstage_id, n_situations, n, colour, kind,
--          name)
-- params:  staging_id INTEGER, the staging
--          copy_id INTEGER, the copy
--          stage_ids BIGINT[], the stages with new names
--          names VARCHAR[], these names
-- source:  serves joining, splitting and renaming stages by hand
with renamed as (
    select
        unnest(cast($stage_ids as bigint[])) as stage_id,
        unnest(cast($names as varchar[])) as name
)

select
    $copy_id as staging_id,
    s.stage_id,
    s.hyperstage_id,
    s.n_situations,
    s.n,
    s.colour,
    s.kind,
    coalesce(r.name, s.name) as name
from cegdb.stage as s
left join renamed as r on s.stage_id = r.stage_id
where s.staging_id = $staging_id
order by s.stage_id
