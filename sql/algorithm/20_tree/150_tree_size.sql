-- step:    tree_size
-- mode:    fetch
-- purpose: The counts shown in the summary of a tree.
-- reads:   vertex
-- writes:  tree_size(n, n_vertices, n_situations, n_leaves, height, n_stopped, n_zero)
-- params:  tree_id INTEGER, the tree
-- source:  serves the summary of an event tree
select
    max(n) as n,
    count(*) as n_vertices,
    count(variable_id) as n_situations,
    count(*) - count(variable_id) as n_leaves,
    max(height) as height,
    cast(sum(n_stopped) as bigint) as n_stopped,
    count(*) filter (where n = 0) as n_zero
from cegdb.vertex
where tree_id = $tree_id
