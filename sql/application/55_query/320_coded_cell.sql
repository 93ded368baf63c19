-- step:    coded_cell
-- mode:    create
-- purpose: The cells of some combinations of answers, one for each variable of the tree: the
--          level to follow in the tree, the answer to match on edges of the CEG (-1: not
--          known), and whether the variable must occur.
-- reads:   row_combination, code_meaning
-- writes:  coded_cell(combination_id, rank, level_id, answer, is_given)
-- params:  first BIGINT, the first combination
--          last BIGINT, the last one
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with cell as (
    select
        combination_id,
        unnest(codes) as code,
        generate_subscripts(codes, 1) - 1 as rank
    from temp.row_combination
    where combination_id between $first and $last
)

select
    c.combination_id,
    c.rank,
    m.level_id,
    m.answer,
    m.is_given
from cell as c
inner join temp.code_meaning as m on c.rank = m.rank and c.code = m.code
order by c.rank, c.combination_id
