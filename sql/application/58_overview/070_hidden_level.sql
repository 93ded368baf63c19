-- step:    hidden_level
-- mode:    append temp.hidden_situation
-- purpose: The hidden situations one edge below those of the step before.
-- reads:   edge, vertex, hidden_situation
-- writes:  hidden_situation(step, vertex_id, node_id)
-- params:  tree_id INTEGER, the tree
--          step INTEGER, edges below the ones next to drawn situations
-- source:  serves the overview of large graphs (cegdb draw)
select
    $step as step,
    e.child_id as vertex_id,
    h.node_id
from cegdb.edge as e
inner join temp.hidden_situation as h on e.parent_id = h.vertex_id
inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.child_id = v.vertex_id
where
    e.tree_id = $tree_id
    and v.tree_id = $tree_id
    and v.variable_id is not null
    and h.step = $step - 1
