-- step:    ceg_overview_size
-- mode:    fetch
-- purpose: Number of edges drawn of a CEG if positions with fewer than k people are collapsed
--          into one node per column, for each k from low + 1 to high: all edges between drawn
--          positions, and one for each pair of nodes of which at least one is collapsed.
-- reads:   ceg_edge, position_column
-- writes:  ceg_overview_size(low, high, n_edges)
-- params:  ceg_id INTEGER, the CEG
--          most BIGINT, number of edges at most
-- source:  serves the overview of large graphs (cegdb draw)
with flow as (
    select
        e.source_id,
        e.target_id,
        s.column_index as source_column,
        t.column_index as target_column,
        s.n as source_n,
        t.n as target_n
    from cegdb.ceg_edge as e
    inner join temp.position_column as s on e.source_id = s.position_id
    inner join temp.position_column as t on e.target_id = t.position_id
    where e.ceg_id = $ceg_id
),

drawn as (
    select
        0 as low,
        least(f.source_n, f.target_n) as high
    from flow as f
    union all
    select
        min(f.target_n) as low,
        f.source_n as high
    from flow as f
    group by f.source_id, f.source_n, f.target_column
    union all
    select
        min(f.source_n) as low,
        f.target_n as high
    from flow as f
    group by f.source_column, f.target_id, f.target_n
    union all
    select
        min(greatest(f.source_n, f.target_n)) as low,
        4611686018427387904 as high
    from flow as f
    group by f.source_column, f.target_column
),

more as (
    select
        d.high as n,
        1 as n_edges
    from drawn as d
    where d.low < d.high
    union all
    select
        d.low as n,
        -1 as n_edges
    from drawn as d
    where d.low < d.high
),

total as (
    select
        coalesce(lead(m.n) over (order by m.n desc), 0) as low,
        m.n as high,
        cast(sum(sum(m.n_edges)) over (order by m.n desc) as bigint) as n_edges
    from more as m
    group by m.n
)

select
    t.low,
    t.high,
    t.n_edges
from total as t
where t.high > 0 and t.n_edges <= $most
order by t.high desc
