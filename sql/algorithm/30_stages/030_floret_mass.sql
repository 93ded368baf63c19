-- step:    floret_mass
-- mode:    create
-- purpose: How each edge shares the prior mass of the root: its mass is alpha / n_shares, where
--          n_shares is the product of the floret sizes from the root to its situation.
-- reads:   edge
-- writes:  floret_mass(vertex_id, n_edges, n_shares)
-- params:  tree_id INTEGER, the tree
-- source:  Freeman & Smith (2011); docs/theory.md, section 6 (Scores and clustering)
with recursive floret as (
    select
        parent_id as vertex_id,
        count(*) as n_edges
    from cegdb.edge
    where tree_id = $tree_id
    group by parent_id
),

hung as (
    select
        f.vertex_id,
        e.parent_id,
        f.n_edges
    from floret as f
    left join cegdb.edge as e on e.tree_id = $tree_id and f.vertex_id = e.child_id
),

mass as (
    select
        vertex_id,
        n_edges,
        cast(n_edges as double) as n_shares
    from hung
    where parent_id is null
    union all
    select
        h.vertex_id,
        h.n_edges,
        m.n_shares * h.n_edges as n_shares
    from mass as m
    inner join hung as h on m.vertex_id = h.parent_id
)

select
    vertex_id,
    n_edges,
    n_shares
from mass
