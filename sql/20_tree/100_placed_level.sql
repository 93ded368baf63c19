-- step:    placed_level
-- mode:    append temp.placed
-- purpose: The nodes one variable below: each one edge deeper than its parent, or in the
--          place of a parent whose floret vanishes.
-- reads:   node, placed
-- writes:  placed(level, code, first, depth, parent_first, level_id, n, weight, weight_sq,
--          n_stopped, n_edges, height, is_gate)
-- params:  level INTEGER, variables on the path to the nodes placed
--          above INTEGER, the level of their parents
--          radix INTEGER, number of digits of the last variable
--          first_level_id INTEGER, level_id of its first level
-- source:  SPEC 1, step 4
select
    c.level,
    c.code,
    c.first,
    if(p.is_gate, p.depth, p.depth + 1) as depth,
    if(p.is_gate, p.parent_first, p.first) as parent_first,
    if(p.is_gate, p.level_id, $first_level_id + c.code % $radix - 1) as level_id,
    c.n,
    c.weight,
    c.weight_sq,
    c.n_stopped,
    c.n_edges,
    c.height,
    c.n_edges = 1 and c.n_structural = 1 as is_gate
from temp.node as c
inner join temp.placed as p on c.code // $radix = p.code
where c.level = $level and c.code % $radix > 0 and p.level = $above
