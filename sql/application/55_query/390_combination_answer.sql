-- step:    combination_answer
-- mode:    create
-- purpose: The results for each combination of answers: one row, however many rows of the
--          source have it.
-- reads:   row_score, combination_last, row_completion, combination_unseen
-- writes:  combination_answer(combination_id, n_answered, log_likelihood, last_situation,
--          last_position, completion, completion_probability, unseen)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    s.combination_id,
    s.n_answered,
    s.log_likelihood,
    l.last_situation,
    l.last_position,
    c.completion,
    case when s.log_best is not null then least(exp(s.log_best - s.log_likelihood), 1) end
        as completion_probability,
    u.unseen
from temp.row_score as s
left join temp.combination_last as l on s.combination_id = l.combination_id
left join temp.row_completion as c on s.combination_id = c.combination_id
left join temp.combination_unseen as u on s.combination_id = u.combination_id
