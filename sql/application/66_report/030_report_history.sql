-- step:    report_history
-- mode:    create
-- purpose: The situations of one variable, with their stage; and, on paths that skip the
--          variable, the first vertex after it, without a stage.
-- reads:   vertex, edge, position, position_member, report_variable
-- writes:  report_history(vertex_id, stage_id, n)
-- params:  tree_id INTEGER, the tree
--          ceg_id INTEGER, its CEG
--          variable_id INTEGER, the variable
--          variable_index INTEGER, its index in the order of the tree
-- source:  serves the reports in words: which answers make up a stage
select
    v.vertex_id,
    p.stage_id,
    v.n
from cegdb.vertex as v
inner join cegdb.position_member as m on m.ceg_id = $ceg_id and v.vertex_id = m.vertex_id
inner join cegdb.position as p on p.ceg_id = $ceg_id and m.position_id = p.position_id
where v.tree_id = $tree_id and v.variable_id = $variable_id
union all
select
    v.vertex_id,
    null as stage_id,
    v.n
from cegdb.edge as e
inner join cegdb.vertex as f on f.tree_id = $tree_id and e.parent_id = f.vertex_id
inner join cegdb.vertex as v on v.tree_id = $tree_id and e.child_id = v.vertex_id
inner join cegdb.position_member as m on m.ceg_id = $ceg_id and v.vertex_id = m.vertex_id
inner join temp.report_variable as t on f.variable_id = t.variable_id
left join temp.report_variable as o on v.variable_id = o.variable_id
where
    e.tree_id = $tree_id
    and t.variable_index < $variable_index
    and coalesce(o.variable_index, $variable_index + 1) > $variable_index
