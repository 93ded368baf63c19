-- step:    block_completion
-- mode:    append temp.row_completion
-- purpose: The completions of one block of combinations, taken where their most probable path
--          ends.
-- reads:   row_best
-- writes:  row_completion(combination_id, completion)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation), most probable path;
--          serves answers for each row of a file (assign, complete, score)
select
    combination_id,
    completion
from temp.row_best
where height = 0
