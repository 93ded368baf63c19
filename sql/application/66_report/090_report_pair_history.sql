-- step:    report_pair_history
-- mode:    create
-- purpose: The situations of one variable, with their pair of stages; and, on paths that
--          skip the variable, the first vertex after it, without a pair.
-- reads:   vertex, edge, stage_member, reported_pair, report_variable
-- writes:  report_pair_history(vertex_id, stage_id, n)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, the staging
--          other_staging_id INTEGER, the other
--          variable_id INTEGER, the variable
--          variable_index INTEGER, its index in the order of the tree
-- source:  serves the comparison of stagings in words
select
    v.vertex_id,
    p.pair_id as stage_id,
    v.n
from cegdb.vertex as v
inner join cegdb.stage_member as a
    on a.staging_id = $staging_id and v.vertex_id = a.vertex_id
inner join cegdb.stage_member as b
    on b.staging_id = $other_staging_id and v.vertex_id = b.vertex_id
inner join temp.reported_pair as p on a.stage_id = p.stage_id and b.stage_id = p.other_id
where v.tree_id = $tree_id and v.variable_id = $variable_id
union all
select
    v.vertex_id,
    null as stage_id,
    v.n
from cegdb.edge as e
inner join cegdb.vertex as f on f.tree_id = $tree_id and e.parent_id = f.vertex_id
inner join cegdb.vertex as v on v.tree_id = $tree_id and e.child_id = v.vertex_id
inner join temp.report_variable as t on f.variable_id = t.variable_id
left join temp.report_variable as o on v.variable_id = o.variable_id
where
    e.tree_id = $tree_id
    and t.variable_index < $variable_index
    and coalesce(o.variable_index, $variable_index + 1) > $variable_index
