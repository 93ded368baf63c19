-- step:    former_edge
-- mode:    create
-- purpose: The edges between the situations of a tree to rebuild, with variable and label as
--          text.
-- reads:   edge, level, former_vertex
-- writes:  former_edge(parent_id, child_id, variable, label)
-- params:  tree_id INTEGER, the tree
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    e.parent_id,
    e.child_id,
    p.variable,
    l.label
from cegdb.edge as e
inner join temp.former_vertex as p on e.parent_id = p.vertex_id
inner join temp.former_vertex as c on e.child_id = c.vertex_id
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id
