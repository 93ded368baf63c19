-- step:    stage_table_row
-- mode:    fetch
-- purpose: The rows of a stage table as printed: variables in the order of their first stage,
--          then stages and labels in order.
-- reads:   stage_table, or masked_stage_table
-- writes:  stage_table_row(variable, stage_id, stage, name, situations, n_stage, label, n,
--          weight, share, probability, low, high, has_weights)
-- params:  stages VARCHAR, the stage table, such as cegdb.stage_table
--          staging VARCHAR, the name of the staging
-- source:  serves stage tables as files and in reports
select
    t.variable,
    t.stage_id,
    t.stage,
    t.name,
    t.situations,
    t.n_stage,
    t.label,
    t.n,
    t.weight,
    t.share,
    t.probability,
    t.low,
    t.high,
    count(t.weight) over () > 0 as has_weights
from query_table($stages) as t
where t.staging = $staging
order by min(t.stage_id) over (partition by t.variable), t.stage_id, t.label_id
