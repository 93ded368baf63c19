-- step:    combination_label
-- mode:    create
-- purpose: The distribution of the open variables of each combination, with labels as text.
-- reads:   row_label, query_label, variable_rank, variable
-- writes:  combination_label(combination_id, rank, label_index, variable, label, probability)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
select
    d.combination_id,
    d.rank,
    d.label_index,
    v.name as variable,
    q.label,
    d.probability
from temp.row_label as d
inner join temp.query_label as q on d.rank = q.rank and d.label_index = q.label_index
inner join temp.variable_rank as r on d.rank = r.rank
inner join cegdb.variable as v on r.variable_id = v.variable_id
