-- step:    next_edge_posterior
-- mode:    append temp.row_edge_posterior
-- purpose: The probability of taking each edge of one height, given all answers of a
--          combination.
-- reads:   row_edge_posterior, row_path_edge, backward_message
-- writes:  row_edge_posterior(combination_id, edge, target, target_height, probability)
-- params:  height INTEGER, of the positions, the highest first
--          lowest INTEGER, the smallest height above 0 to which an edge leads from here
-- source:  docs/theory.md, section 8 (Probability propagation), posterior edge probabilities;
--          serves answers for each row of a file (assign, complete, score)
with here as (
    select
        combination_id,
        target as node,
        fsum(probability) as probability
    from temp.row_edge_posterior
    where target_height = $height
    group by combination_id, target
)

select
    w.combination_id,
    w.edge,
    w.target,
    w.target_height,
    h.probability * exp(w.log_probability + coalesce(t.total, 0) - s.total) as probability
from here as h
inner join temp.backward_message as s
    on h.combination_id = s.combination_id and h.node = s.node and s.height = $height
inner join temp.row_path_edge as w
    on h.combination_id = w.combination_id and h.node = w.source and w.height = $height
left join temp.backward_message as t
    on
        w.combination_id = t.combination_id
        and w.target = t.node
        and t.height >= $lowest
where w.target_height = 0 or t.node is not null
