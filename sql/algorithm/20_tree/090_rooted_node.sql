-- step:    rooted_node
-- mode:    create
-- purpose: The root, where the walk down the tree starts.
-- reads:   node
-- writes:  rooted_node(level, below, first_path, depth, parent_row, level_id, n, weight, weight_sq,
--          n_stopped, height, is_situation, is_gate)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 4
select
    level,
    below,
    first_path,
    cast(0 as integer) as depth,
    cast(null as bigint) as parent_row,
    cast(null as integer) as level_id,
    n,
    weight,
    weight_sq,
    n_stopped,
    height,
    is_situation,
    is_gate
from temp.node
where level = 0
