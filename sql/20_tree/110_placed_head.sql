-- step:    placed_head
-- mode:    append temp.placed
-- purpose: The nodes at which a group of variables ends once more, by the dense id that the
--          codes below start from, so that their children find them.
-- reads:   placed, path_head
-- writes:  placed(level, code, first, depth, parent_first, level_id, n, weight, weight_sq,
--          n_stopped, n_edges, height, is_gate)
-- params:  level INTEGER, a level of its own for these copies, below 0
--          above INTEGER, the level of the nodes
--          chunk INTEGER, the group of variables
-- source:  DESIGN 8
select
    $level as level,
    h.head_id as code,
    p.first,
    p.depth,
    p.parent_first,
    p.level_id,
    p.n,
    p.weight,
    p.weight_sq,
    p.n_stopped,
    p.n_edges,
    p.height,
    p.is_gate
from temp.placed as p
inner join temp.path_head as h on p.code = h.code
where p.level = $above and h.chunk = $chunk
