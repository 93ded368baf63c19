-- step:    row_label
-- mode:    append temp.row_label
-- purpose: The distribution of each variable that a combination leaves open, given its
--          answers; 'not applicable' on the paths that jump over it.
-- reads:   row_flow, query_word, query_skip, given_cell, asked_rank
-- writes:  row_label(combination_id, rank, place, probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with taken as (
    select
        f.combination_id,
        e.rank,
        e.place,
        f.probability
    from temp.row_flow as f
    inner join temp.query_word as e on f.edge = e.edge
    union all
    select
        f.combination_id,
        s.rank,
        s.place,
        f.probability
    from temp.row_flow as f
    inner join temp.query_skip as s on f.edge = s.edge
)

select
    t.combination_id,
    t.rank,
    t.place,
    fsum(t.probability) as probability
from taken as t
inner join temp.asked_rank as a on t.rank = a.rank
inner join temp.given_cell as c on t.combination_id = c.combination_id and t.rank = c.rank
where c.answer < 0
group by t.combination_id, t.rank, t.place
