-- step:    stage_handle
-- mode:    fetch
-- purpose: The names of the stages of a staging: the generated one (u0, u1, ...) and the given
--          one.
-- reads:   stage, hyperstage
-- writes:  stage_handle(stage_id, shown, name, hyperstage_id, labels)
-- params:  staging_id INTEGER, the staging
-- source:  serves joining, splitting and renaming stages by hand;
--          docs/architecture.md, section Ids
select
    s.stage_id,
    'u' || (row_number() over (order by s.stage_id) - 1) as shown,
    s.name,
    s.hyperstage_id,
    h.labels
from cegdb.stage as s
inner join cegdb.hyperstage as h
    on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
where s.staging_id = $staging_id
order by s.stage_id
