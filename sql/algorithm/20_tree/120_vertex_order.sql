-- step:    vertex_order
-- mode:    create
-- purpose: The rows of rooted_node that are vertices of a tree in which florets vanish, in the
--          order of their ids: breadth first, by path in level order.
-- reads:   rooted_node
-- writes:  vertex_order(node_row)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 6;
--          docs/architecture.md, section Ids
select rowid as node_row
from temp.rooted_node
where not is_gate
order by depth, first
