-- step:    backward_message
-- mode:    create
-- purpose: The backward messages for each combination of answers. Empty at first;
--          next_backward_message adds rows, height by height.
-- reads:   row_path_edge
-- writes:  backward_message(height, combination_id, node, edge, best, total)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    height,
    combination_id,
    source as node,
    edge,
    log_probability as best,
    log_probability as total
from temp.row_path_edge
where false
