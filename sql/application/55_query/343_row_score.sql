-- step:    row_score
-- mode:    create
-- purpose: The scores of all combinations of answers. Empty at first; block_score adds rows,
--          block by block.
-- reads:   nothing
-- writes:  row_score(combination_id, n_answered, n_open, log_likelihood, log_best)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    cast(0 as bigint) as combination_id,
    cast(0 as integer) as n_answered,
    cast(0 as integer) as n_open,
    cast(0 as double) as log_likelihood,
    cast(0 as double) as log_best
where false
