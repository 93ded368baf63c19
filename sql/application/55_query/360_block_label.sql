-- step:    block_label
-- mode:    append temp.row_label
-- purpose: The distribution of each variable that a combination leaves open, given its answers;
--          it is 'not applicable' on paths that jump over the variable.
-- reads:   row_edge_posterior, edge_answer, skipped_variable, row_cell, requested_rank
-- writes:  row_label(combination_id, rank, label_index, probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with taken as (
    select
        f.combination_id,
        e.rank,
        e.label_index,
        f.probability
    from temp.row_edge_posterior as f
    inner join temp.edge_answer as e on f.edge = e.edge
    union all
    select
        f.combination_id,
        s.rank,
        s.label_index,
        f.probability
    from temp.row_edge_posterior as f
    inner join temp.skipped_variable as s on f.edge = s.edge
)

select
    t.combination_id,
    t.rank,
    t.label_index,
    fsum(t.probability) as probability
from taken as t
inner join temp.requested_rank as a on t.rank = a.rank
inner join temp.row_cell as c on t.combination_id = c.combination_id and t.rank = c.rank
where c.answer < 0
group by t.combination_id, t.rank, t.label_index
