-- step:    row_root_edge
-- mode:    create
-- purpose: The edge into the root, for every combination that answers no variable before the
--          root.
-- reads:   row_cell
-- writes:  row_root_edge(height, combination_id, edge, source, target, target_height,
--          log_probability)
-- params:  root_rank INTEGER, rank of the root's variable in the order of the tree
--          root_height INTEGER, its height
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    cast(-1 as integer) as height,
    combination_id,
    cast(-1 as integer) as edge,
    cast(-1 as integer) as source,
    cast(0 as integer) as target,
    cast($root_height as integer) as target_height,
    cast(0 as double) as log_probability
from temp.row_cell
group by combination_id
having count(*) filter (where is_given and rank < $root_rank) = 0
