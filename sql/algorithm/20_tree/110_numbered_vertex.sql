-- step:    numbered_vertex
-- mode:    view
-- purpose: The vertices of a tree without contracted florets, in the order of their ids: the
--          rows of rooted_node, level by level.
-- reads:   rooted_node
-- writes:  numbered_vertex(vertex_id, parent_id, depth, level, below, level_id, n, weight,
--          weight_sq, n_stopped, height, is_situation)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 6;
--          docs/architecture.md, section Ids
select
    p.rowid - r.first_row as vertex_id,
    p.parent_row - r.first_row as parent_id,
    p.depth,
    p.level,
    p.below,
    p.level_id,
    p.n,
    p.weight,
    p.weight_sq,
    p.n_stopped,
    p.height,
    p.is_situation
from temp.rooted_node as p
cross join (select min(q.rowid) as first_row from temp.rooted_node as q) as r
