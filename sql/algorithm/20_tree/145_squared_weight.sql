-- step:    squared_weight
-- mode:    append cegdb.vertex_weight
-- purpose: The sum of the squared weights at each vertex, from which the effective sample size
--          is computed.
-- reads:   numbered_vertex or reordered_vertex
-- writes:  vertex_weight(tree_id, vertex_id, weight_sq)
-- params:  tree_id INTEGER, the tree
--          vertices VARCHAR, temp.numbered_vertex, or temp.reordered_vertex if florets are
--          contracted
-- source:  Kish (1965), Survey Sampling; docs/theory.md, section 1 (Event trees from data)
select
    $tree_id as tree_id,
    vertex_id,
    weight_sq
from query_table($vertices)
