-- step:    tree_vertex
-- mode:    append cegdb.vertex
-- purpose: The vertices, in the order of their ids.
-- reads:   numbered_vertex or reordered_vertex
-- writes:  vertex(tree_id, vertex_id, depth, height, variable_id, n, weight, n_stopped)
-- params:  tree_id INTEGER, the tree
--          variable_ids INTEGER[], its variables from the root
--          vertices VARCHAR, temp.numbered_vertex, or temp.reordered_vertex if florets are
--          contracted
-- source:  docs/theory.md, section 1 (Event trees from data), steps 5 and 6
select
    $tree_id as tree_id,
    vertex_id,
    depth,
    height,
    if(is_situation, cast($variable_ids as integer[])[level + 1], null) as variable_id,
    n,
    weight,
    n_stopped
from query_table($vertices)
