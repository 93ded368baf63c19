-- step:    combination_unseen
-- mode:    create
-- purpose: The first answer of each combination that the CEG does not know.
-- reads:   row_combination, unseen_code
-- writes:  combination_unseen(combination_id, unseen)
-- params:  none
-- source:  serves answers for each row of a file (assign, complete, score)
with cell as (
    select
        combination_id,
        unnest(codes) as code,
        generate_subscripts(codes, 1) - 1 as rank
    from temp.row_combination
)

select
    c.combination_id,
    min_by(u.answer_text, c.rank) as unseen
from cell as c
inner join temp.unseen_code as u on c.rank = u.rank and c.code = u.code
group by c.combination_id
