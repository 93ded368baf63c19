-- step:    child_label
-- mode:    fetch
-- purpose: The labels of the edges from one vertex, in level order, and where they lead.
-- reads:   edge, level
-- writes:  child_label(label, child_id)
-- params:  tree_id INTEGER, the tree
--          vertex_id BIGINT, the vertex
-- source:  serves error messages about trees and stagings
select
    l.label,
    e.child_id
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id and e.parent_id = $vertex_id
order by e.child_id
