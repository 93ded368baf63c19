-- step:    report_position
-- mode:    fetch
-- purpose: The positions that most people reach; the root and the sink are always included.
-- reads:   positions, or masked_positions
-- writes:  report_position(position_id, position, stage, variable, height, n, n_situations)
-- params:  positions VARCHAR, the view of positions, such as cegdb.positions
--          ceg VARCHAR, the name of the CEG
--          most INTEGER, how many
-- source:  serves the analyst's report
with ranked as (
    select
        p.*,
        row_number() over (
            order by
                p.position_id <> 0 and p.stage_id is not null,
                coalesce(p.n, 0) desc,
                p.position_id
        ) as rank
    from query_table($positions) as p
    where p.ceg = $ceg
)

select
    r.position_id,
    r.position,
    r.stage,
    r.variable,
    r.height,
    r.n,
    r.n_situations
from ranked as r
where r.rank <= $most
order by r.stage_id is null, r.position_id
