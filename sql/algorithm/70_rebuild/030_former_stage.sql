-- step:    former_stage
-- mode:    create
-- purpose: The stages of a staging to rebuild, with the names under which they were shown.
-- reads:   stage, hyperstage, variable
-- writes:  former_stage(stage_id, former_stage, variable, kind, hyperstage_id, name)
-- params:  staging_id INTEGER, the staging
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    s.stage_id,
    'u' || (row_number() over (order by s.stage_id) - 1) as former_stage,
    q.name as variable,
    s.kind,
    s.hyperstage_id,
    s.name
from cegdb.stage as s
inner join cegdb.hyperstage as h
    on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
left join cegdb.variable as q on h.variable_id = q.variable_id
where s.staging_id = $staging_id
