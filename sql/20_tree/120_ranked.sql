-- step:    ranked
-- mode:    create
-- purpose: The vertices of the event tree in the order of their ids: breadth first, by path
--          in level order.
-- reads:   placed
-- writes:  ranked(vertex_id, depth, first, parent_first, level, level_id, n, weight,
--          weight_sq, n_stopped, n_edges, height)
-- params:  none
-- source:  DESIGN 4 (ids)
select
    row_number() over (order by depth, first) - 1 as vertex_id,
    depth,
    first,
    parent_first,
    level,
    level_id,
    n,
    weight,
    weight_sq,
    n_stopped,
    n_edges,
    height
from temp.placed
where not is_gate and level >= 0
