-- step:    tree_depth
-- mode:    fetch
-- purpose: The first and the last vertex of each depth of a tree, below the root.
-- reads:   vertex
-- writes:  tree_depth(depth, low, high)
-- params:  tree_id INTEGER, the tree
-- source:  docs/architecture.md, section Ids
select
    depth,
    min(vertex_id) as low,
    max(vertex_id) as high
from cegdb.vertex
where tree_id = $tree_id and depth > 0
group by depth
order by depth
