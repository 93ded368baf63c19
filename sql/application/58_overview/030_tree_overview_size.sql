-- step:    tree_overview_size
-- mode:    fetch
-- purpose: Number of edges drawn of a tree if vertices with fewer than k people are collapsed,
--          for each k from low + 1 to high: one edge to each child with at least k people and,
--          for each situation with at least k people, one to all its other children.
-- reads:   edge, large_situation
-- writes:  tree_overview_size(low, high, n_edges)
-- params:  tree_id INTEGER, the tree
-- source:  serves the overview of large graphs (cegdb draw)
with child as (
    select
        s.n as parent_n,
        s.bound,
        e.n,
        e.parent_id
    from cegdb.edge as e
    inner join temp.large_situation as s on e.parent_id = s.vertex_id
    where e.tree_id = $tree_id
),

rest as (
    select
        min(c.n) as low,
        c.parent_n as high,
        c.bound
    from child as c
    group by c.parent_id, c.parent_n, c.bound
),

more as (
    select
        c.n,
        c.bound,
        1 as n_edges
    from child as c
    union all
    select
        r.high as n,
        r.bound,
        1 as n_edges
    from rest as r
    union all
    select
        r.low as n,
        r.bound,
        -1 as n_edges
    from rest as r
)

select
    greatest(
        m.bound,
        coalesce(lead(m.n) over (order by m.n desc), 0)
    ) as low,
    m.n as high,
    cast(sum(sum(m.n_edges)) over (order by m.n desc) as bigint) as n_edges
from more as m
group by m.n, m.bound
qualify m.n > m.bound and m.n > 0
order by high desc
