-- step:    row_completion
-- mode:    create
-- purpose: The completions of all combinations of answers. Empty at first; block_completion
--          adds rows, block by block.
-- reads:   nothing
-- writes:  row_completion(combination_id, completion)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation), most probable path;
--          serves answers for each row of a file (assign, complete, score)
select
    cast(0 as bigint) as combination_id,
    cast('' as varchar) as completion
where false
