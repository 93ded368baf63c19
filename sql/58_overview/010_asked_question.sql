-- step:     asked_question
-- mode:     fetch
-- purpose:  The variables that some situation of a tree asks.
-- reads:    vertex
-- writes:   asked_question(variable_id)
-- params:   tree_id INTEGER, the tree
-- source:   serves the overview of large graphs (cegdb draw)
select distinct v.variable_id
from cegdb.vertex as v
where v.tree_id = $tree_id and v.variable_id is not null
