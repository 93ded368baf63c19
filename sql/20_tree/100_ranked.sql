-- step:    ranked
-- mode:    create
-- purpose: The vertices of the event tree in the order of their ids: breadth first, by path
--          in level order. A vertex's id is its row's number here.
-- reads:   placed
-- writes:  ranked(depth, first, parent_first, level, level_id, n, weight, n_stopped, n_edges,
--          height)
-- params:  none
-- source:  DESIGN 4 (ids)
select
    depth,
    first,
    parent_first,
    level,
    level_id,
    n,
    weight,
    n_stopped,
    n_edges,
    height
from temp.placed
where not is_gate
order by depth, first
