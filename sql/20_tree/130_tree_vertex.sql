-- step:    tree_vertex
-- mode:    append cegdb.vertex
-- purpose: The vertices; one without edges is a leaf, whether its rows ended or all stopped.
-- reads:   ranked, tree_level
-- writes:  vertex(tree_id, vertex_id, depth, height, variable_id, n, weight, n_stopped)
-- params:  tree_id INTEGER, the tree
-- source:  SPEC 1, steps 5 and 6
select
    $tree_id as tree_id,
    r.vertex_id,
    r.depth,
    r.height,
    t.variable_id,
    r.n,
    r.weight,
    if(r.n_edges = 0, 0, r.n_stopped) as n_stopped
from temp.ranked as r
left join temp.tree_level as t on r.level + 1 = t.level and r.n_edges > 0
order by r.vertex_id
