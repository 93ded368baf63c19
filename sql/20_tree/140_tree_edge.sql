-- step:    tree_edge
-- mode:    append cegdb.edge
-- purpose: The edges: every vertex but the root with its parent.
-- reads:   ranked
-- writes:  edge(tree_id, parent_id, child_id, level_id, n, weight)
-- params:  tree_id INTEGER, the tree
-- source:  SPEC 1
select
    $tree_id as tree_id,
    p.vertex_id as parent_id,
    c.vertex_id as child_id,
    c.level_id,
    c.n,
    c.weight
from temp.ranked as c
inner join temp.ranked as p on c.depth = p.depth + 1 and c.parent_first = p.first
order by c.vertex_id
