-- step:    row_path_edge
-- mode:    create
-- purpose: The edges of the CEG that agree with each combination of answers. At first only the
--          edge into the root; next_path_edge adds the others, height by height.
-- reads:   row_root_edge
-- writes:  row_path_edge(height, combination_id, edge, source, target, target_height,
--          log_probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    height,
    combination_id,
    edge,
    source,
    target,
    target_height,
    log_probability
from temp.row_root_edge
