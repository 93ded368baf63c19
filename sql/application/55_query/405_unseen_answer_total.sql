-- step:    unseen_answer_total
-- mode:    fetch
-- purpose: The number of respondents who gave each answer that the CEG does not know.
-- reads:   source_row, row_combination, unseen_code
-- writes:  unseen_answer_total(rank, answer_text, n)
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
    u.rank,
    u.answer_text,
    sum(r.n) as n
from cell as c
inner join temp.unseen_code as u on c.rank = u.rank and c.code = u.code
inner join temp.source_row as r on c.combination_id = r.combination_id
group by u.rank, u.answer_text
order by u.rank asc, n desc, u.answer_text asc
