-- step:    row_root
-- mode:    append temp.row_vertex
-- purpose: The edge into the root of the tree, for each combination of one block.
-- reads:   row_combination
-- writes:  row_vertex(depth, combination_id, vertex_id, child_id)
-- params:  first BIGINT, the first combination
--          last BIGINT, the last one
-- source:  docs/theory.md, section 1 (Event trees from data);
--          serves answers for each row of a file (assign, complete, score)
select
    -1 as depth,
    combination_id,
    -1 as vertex_id,
    0 as child_id
from temp.row_combination
where combination_id between $first and $last
