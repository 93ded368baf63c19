-- step:    row_edge_posterior
-- mode:    create
-- purpose: The probability of each edge given all answers of a combination. At first only the
--          edge into the root; next_edge_posterior adds the others, height by height.
-- reads:   row_root_edge, backward_message
-- writes:  row_edge_posterior(combination_id, edge, target, target_height, probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation), posterior edge probabilities;
--          serves answers for each row of a file (assign, complete, score)
select
    s.combination_id,
    s.edge,
    s.target,
    s.target_height,
    cast(1 as double) as probability
from temp.row_root_edge as s
inner join temp.backward_message as o on s.combination_id = o.combination_id and o.node = 0
