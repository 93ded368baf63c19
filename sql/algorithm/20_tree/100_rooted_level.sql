-- step:    rooted_level
-- mode:    append temp.rooted_node
-- purpose: The nodes one variable lower, in the order of their paths. Each is one edge deeper
--          than its parent, or takes the place of a parent whose floret is contracted.
--          parent_row is the row id of the parent in this table.
-- reads:   node, rooted_node
-- writes:  rooted_node(level, below, first_path, depth, parent_row, level_id, n, weight, weight_sq,
--          n_stopped, height, is_situation, is_gate)
-- params:  level INTEGER, variables on the path to these nodes
--          radix INTEGER, number of digits of the last variable
--          first_level_id INTEGER, level_id of its first level
-- source:  docs/theory.md, section 1 (Event trees from data), step 4
select
    c.level,
    c.below,
    c.first_path,
    if(p.is_gate, p.depth, p.depth + 1) as depth,
    if(p.is_gate, p.parent_row, p.rowid) as parent_row,
    if(p.is_gate, p.level_id, $first_level_id + c.code % $radix - 1) as level_id,
    c.n,
    c.weight,
    c.weight_sq,
    c.n_stopped,
    c.height,
    c.is_situation,
    c.is_gate
from temp.node as c
inner join temp.rooted_node as p on c.code // $radix = p.below
where c.level = $level and c.code % $radix > 0 and p.level = $level - 1
order by c.first_path
