-- step:    same_vertex
-- mode:    append temp.same_vertex
-- purpose: The situations of the rebuilt tree that the former tree has as well, at one depth of
--          the former tree: the same answers to the same variables lead to them.
-- reads:   former_edge, same_vertex, edge, vertex, variable, level
-- writes:  same_vertex(former_id, vertex_id)
-- params:  tree_id INTEGER, the tree
--          low BIGINT, the first situation of that depth in the former tree
--          high BIGINT, the last one
-- source:  serves making stale objects again after new rows (cegdb rebuild);
--          docs/architecture.md, section Ids
select
    f.child_id as former_id,
    e.child_id as vertex_id
from temp.former_edge as f
inner join temp.same_vertex as s on f.parent_id = s.former_id
inner join cegdb.edge as e on s.vertex_id = e.parent_id
inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.parent_id = v.vertex_id
inner join cegdb.variable as q on v.variable_id = q.variable_id and f.variable = q.name
inner join cegdb.level as l on e.level_id = l.level_id and f.label = l.label
where e.tree_id = $tree_id and f.parent_id between $low and $high
