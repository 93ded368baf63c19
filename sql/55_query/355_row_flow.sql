-- step:    row_flow
-- mode:    append temp.row_flow
-- purpose: How probable it is to take each edge of one height, given all the answers of a
--          combination.
-- reads:   row_flow, row_way, row_onward
-- writes:  row_flow(combination_id, edge, target, target_height, probability)
-- params:  height INTEGER, of the positions, the highest first
--          lowest INTEGER, the smallest height above 0 to which an edge leads from here
-- source:  docs/theory.md, section 8 (Probability propagation), posterior edge probabilities;
--          serves answers for each row of a file (assign, complete, score)
with here as (
    select
        combination_id,
        target as node,
        fsum(probability) as probability
    from temp.row_flow
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
inner join temp.row_onward as s
    on h.combination_id = s.combination_id and h.node = s.node and s.height = $height
inner join temp.row_way as w
    on h.combination_id = w.combination_id and h.node = w.source and w.height = $height
left join temp.row_onward as t
    on
        w.combination_id = t.combination_id
        and w.target = t.node
        and t.height >= $lowest
where w.target_height = 0 or t.node is not null
