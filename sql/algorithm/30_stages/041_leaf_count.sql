-- step:    leaf_count
-- mode:    create
-- purpose: Number of leaves below each vertex, for a prior that is uniform over paths.
-- reads:   vertex, edge
-- writes:  leaf_count(vertex_id, n_leaves)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 6 (Scores and clustering)
with recursive above as (
    select
        v.vertex_id as leaf_id,
        v.vertex_id
    from cegdb.vertex as v
    where v.tree_id = $tree_id and v.height = 0
    union all
    select
        a.leaf_id,
        e.parent_id as vertex_id
    from above as a
    inner join cegdb.edge as e on e.tree_id = $tree_id and a.vertex_id = e.child_id
)

select
    vertex_id,
    count(*) as n_leaves
from above
group by vertex_id
