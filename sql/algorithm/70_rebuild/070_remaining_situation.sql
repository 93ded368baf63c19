-- step:    remaining_situation
-- mode:    create
-- purpose: The situations that are still in the tree and have the same variable, with their
--          former stage and its name.
-- reads:   same_vertex, former_member, former_stage, vertex, variable
-- writes:  remaining_situation(vertex_id, stage_id, hyperstage_id, kind, name)
-- params:  tree_id INTEGER, the tree
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    s.vertex_id,
    m.stage_id,
    g.hyperstage_id,
    g.kind,
    g.name
from temp.same_vertex as s
inner join temp.former_member as m on s.former_id = m.vertex_id
inner join temp.former_stage as g on m.stage_id = g.stage_id
inner join cegdb.vertex as v on s.vertex_id = v.vertex_id
inner join cegdb.variable as q on v.variable_id = q.variable_id and m.variable = q.name
where v.tree_id = $tree_id
