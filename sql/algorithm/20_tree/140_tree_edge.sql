-- step:    tree_edge
-- mode:    append cegdb.edge
-- purpose: The edges: each vertex except the root with its parent, in the order of the ids.
-- reads:   numbered_vertex or reordered_vertex
-- writes:  edge(tree_id, parent_id, child_id, level_id, n, weight)
-- params:  tree_id INTEGER, the tree
--          vertices VARCHAR, temp.numbered_vertex, or temp.reordered_vertex if florets are
--          contracted
-- source:  docs/theory.md, section 1 (Event trees from data)
select
    $tree_id as tree_id,
    parent_id,
    vertex_id as child_id,
    level_id,
    n,
    weight
from query_table($vertices)
where parent_id is not null
