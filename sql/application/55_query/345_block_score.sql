-- step:    block_score
-- mode:    append temp.row_score
-- purpose: The number of variables that each combination answers and leaves open, the log of
--          the probability of its answers, and that of its most probable path.
-- reads:   row_cell, backward_message
-- writes:  row_score(combination_id, n_answered, n_open, log_likelihood, log_best)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with cell as (
    select
        combination_id,
        count(*) filter (where is_given) as n_answered,
        count(*) filter (where answer < 0) as n_open
    from temp.row_cell
    group by combination_id
)

select
    c.combination_id,
    c.n_answered,
    c.n_open,
    least(coalesce(o.total, cast('-infinity' as double)), 0) as log_likelihood,
    o.best as log_best
from cell as c
left join temp.backward_message as o on c.combination_id = o.combination_id and o.node = 0
order by c.combination_id
