-- step:    tree_vertex
-- mode:    append cegdb.vertex
-- purpose: The vertices; one without edges is a leaf, whether its rows ended or all stopped.
-- reads:   ranked
-- writes:  vertex(tree_id, vertex_id, depth, height, variable_id, n, weight, n_stopped)
-- params:  tree_id INTEGER, the tree
--          variable_ids INTEGER[], its variables from the root
-- source:  SPEC 1, steps 5 and 6
select
    $tree_id as tree_id,
    vertex_id,
    depth,
    height,
    if(n_edges > 0, cast($variable_ids as integer[])[level + 1], null) as variable_id,
    n,
    weight,
    if(n_edges = 0, 0, n_stopped) as n_stopped
from temp.ranked
order by vertex_id
