-- step:    floret_size
-- mode:    create
-- purpose: The number of edges of each situation, and where it hangs.
-- reads:   edge, vertex
-- writes:  floret_size(vertex_id, depth, parent_id, n_edges)
-- params:  tree_id INTEGER, the tree
-- source:  SPEC 6
with floret as (
    select
        parent_id as vertex_id,
        count(*) as n_edges
    from cegdb.edge
    where tree_id = $tree_id
    group by parent_id
)

select
    f.vertex_id,
    v.depth,
    e.parent_id,
    f.n_edges
from floret as f
inner join cegdb.vertex as v on v.tree_id = $tree_id and f.vertex_id = v.vertex_id
left join cegdb.edge as e on e.tree_id = $tree_id and f.vertex_id = e.child_id
