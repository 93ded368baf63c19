-- step:    vertex_order
-- mode:    create
-- purpose: For a tree with contracted florets: the rows of rooted_node that are vertices, in
--          the order of their ids, breadth first and by path in level order.
-- reads:   rooted_node
-- writes:  vertex_order(node_row)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 6;
--          docs/architecture.md, section Ids
select rowid as node_row
from temp.rooted_node
where not is_gate
order by depth, first_path
