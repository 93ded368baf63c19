-- step:    row_cell
-- mode:    create
-- purpose: The cells with two later variables of their combination: the next that must occur,
--          since an edge that jumps over it contradicts the answers, and the next that is open.
-- reads:   coded_cell
-- writes:  row_cell(combination_id, rank, level_id, answer, is_given, next_rank, next_open)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation), evidence (d);
--          serves answers for each row of a file (assign, complete, score)
with following as (
    select
        *,
        min(case when is_given then rank end) over (
            partition by combination_id
            order by rank
            rows between 1 following and unbounded following
        ) as next_rank,
        min(case when answer < 0 then rank end) over (
            partition by combination_id
            order by rank
            rows between 1 following and unbounded following
        ) as next_open
    from temp.coded_cell
)

select
    combination_id,
    rank,
    level_id,
    answer,
    is_given,
    coalesce(next_rank, 2147483647) as next_rank,
    coalesce(next_open, 2147483647) as next_open
from following
order by rank, combination_id
