-- step:    placed_level
-- mode:    append temp.placed
-- purpose: The nodes one variable below: each one edge deeper than its parent, or in the
--          place of a parent whose floret vanishes.
-- reads:   node, placed, path_head
-- writes:  placed(level, code, first, depth, parent_first, level_id, n, weight, n_stopped,
--          n_edges, height, is_gate)
-- params:  level INTEGER, variables on the path to the nodes placed
--          radix INTEGER, number of digits of the last of them
--          first_level_id INTEGER, level_id of its first level
--          chunk INTEGER, group of variables whose dense ids end above; -1 for none
-- source:  SPEC 1, step 4
with child as (
    select
        n.*,
        coalesce(h.code, n.code // $radix) as parent_code,
        n.code % $radix as digit
    from temp.node as n
    left join temp.path_head as h
        on n.code // $radix = h.head_id and h.chunk = $chunk
    where n.level = $level and n.code % $radix > 0
)

select
    c.level,
    c.code,
    c.first,
    if(p.is_gate, p.depth, p.depth + 1) as depth,
    if(p.is_gate, p.parent_first, p.first) as parent_first,
    if(p.is_gate, p.level_id, $first_level_id + c.digit - 1) as level_id,
    c.n,
    c.weight,
    c.n_stopped,
    c.n_edges,
    c.height,
    c.n_edges = 1 and c.n_structural = 1 as is_gate
from child as c
inner join temp.placed as p on c.parent_code = p.code
where p.level = $level - 1
