-- step:    tree_variable
-- mode:    fetch
-- purpose: The variables of a tree's situations.
-- reads:   vertex, variable
-- writes:  tree_variable(variable_id, name)
-- params:  tree_id INTEGER, the tree
-- source:  serves the overview of large graphs and the plots (cegdb draw, cegdb plot)
select distinct
    q.variable_id,
    q.name
from cegdb.vertex as v
inner join cegdb.variable as q on v.variable_id = q.variable_id
where v.tree_id = $tree_id
