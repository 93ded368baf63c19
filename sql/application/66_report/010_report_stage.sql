-- step:    report_stage
-- mode:    fetch
-- purpose: Each stage of a CEG with its count, null if the count of one of its positions is
--          hidden. A CEG given evidence has its own stages, without kind or name.
-- reads:   positions, or masked_positions; stage
-- writes:  report_stage(stage_id, stage, given_name, kind, variable, n_positions, n_situations, n)
-- params:  positions VARCHAR, the view of positions, such as cegdb.positions
--          ceg VARCHAR, the name of the CEG
--          staging_id INTEGER, its staging; 0 given evidence
-- source:  serves the reports in words (cegdb report text)
with pooled as (
    select
        p.stage_id,
        p.stage,
        p.variable,
        count(*) as n_positions,
        sum(p.n_situations) as n_situations,
        if(count(*) = count(p.n), sum(p.n), null) as n
    from query_table($positions) as p
    where p.ceg = $ceg and p.stage_id is not null
    group by p.stage_id, p.stage, p.variable
)

select
    p.stage_id,
    p.stage,
    s.name as given_name,
    s.kind,
    p.variable,
    p.n_positions,
    cast(p.n_situations as bigint) as n_situations,
    cast(p.n as bigint) as n
from pooled as p
left join cegdb.stage as s on s.staging_id = $staging_id and p.stage_id = s.stage_id
order by p.stage_id
