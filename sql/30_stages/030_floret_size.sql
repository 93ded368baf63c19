-- step:    floret_size
-- mode:    create
-- purpose: The number of edges of each situation, and what it hangs on.
-- reads:   edge
-- writes:  floret_size(vertex_id, parent_id, n_edges)
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
    e.parent_id,
    f.n_edges
from floret as f
left join cegdb.edge as e on e.tree_id = $tree_id and f.vertex_id = e.child_id
