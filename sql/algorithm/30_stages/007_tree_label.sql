-- step:    tree_label
-- mode:    fetch
-- purpose: The labels on the edges of a tree, or on those of one variable, in level order.
-- reads:   edge, level, variable
-- writes:  tree_label(label)
-- params:  tree_id INTEGER, the tree
--          variable VARCHAR, the variable, or null for all
-- source:  serves error messages about trees and stagings
select l.label
from cegdb.level as l
inner join cegdb.variable as v on l.variable_id = v.variable_id
where
    v.name = coalesce($variable, v.name)
    and l.level_id in (select e.level_id from cegdb.edge as e where e.tree_id = $tree_id)
group by l.label
order by min(l.level_id)
