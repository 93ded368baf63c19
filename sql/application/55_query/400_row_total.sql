-- step:    row_total
-- mode:    fetch
-- purpose: The number of rows and of the respondents they stand for, their weight, the number
--          and weight of those whose answers are impossible, and the sum of the log
--          probabilities of the others.
-- reads:   source_row, row_score
-- writes:  row_total(n_rows, n, weight, n_impossible, weight_impossible, log_score)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with answered as (
    select
        r.n,
        r.n * cast(coalesce(r.weight, 1) as double) as weight,
        s.log_likelihood,
        isinf(s.log_likelihood) as is_impossible
    from temp.source_row as r
    inner join temp.row_score as s on r.combination_id = s.combination_id
)

select
    count(*) as n_rows,
    coalesce(sum(n), 0) as n,
    coalesce(fsum(weight), 0) as weight,
    coalesce(sum(n) filter (where is_impossible), 0) as n_impossible,
    coalesce(fsum(weight) filter (where is_impossible), 0) as weight_impossible,
    coalesce(fsum(weight * log_likelihood) filter (where not is_impossible), 0) as log_score
from answered
