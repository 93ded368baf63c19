-- step:    history_cell
-- mode:    create
-- purpose: The cells of some combinations of answers as labels: -1 where the answer is not known,
--          -2 where it is no label of the tree.
-- reads:   coded_cell, level
-- writes:  history_cell(combination_id, rank, label_id, is_given)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents);
--          serves answers for each row of a file (assign, complete, score)
select
    c.combination_id,
    c.rank,
    if(c.answer < 0, -1, coalesce(l.label_id, -2)) as label_id,
    c.is_given
from temp.coded_cell as c
left join cegdb.level as l on c.level_id = l.level_id
order by c.combination_id, c.rank
