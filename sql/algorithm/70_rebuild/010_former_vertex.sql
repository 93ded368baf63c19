-- step:    former_vertex
-- mode:    create
-- purpose: The situations of a tree to rebuild, with their variable and count.
-- reads:   vertex, variable
-- writes:  former_vertex(vertex_id, depth, variable, n)
-- params:  tree_id INTEGER, the tree
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    v.vertex_id,
    v.depth,
    q.name as variable,
    v.n
from cegdb.vertex as v
inner join cegdb.variable as q on v.variable_id = q.variable_id
where v.tree_id = $tree_id
