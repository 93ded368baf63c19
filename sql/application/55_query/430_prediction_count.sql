-- step:    prediction_count
-- mode:    create
-- purpose: The number of respondents with each combination of answers and each actual label
--          (-1: none that the CEG knows), the label of a blank where nothing is missing (-1:
--          no blank), and whether the answers are impossible.
-- reads:   source_row, row_score, actual_label
-- writes:  prediction_count(combination_id, label_index, absent_index, is_impossible, n, weight)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves predictions for each row of a file (predict, classify, calibration)
select
    g.combination_id,
    coalesce(a.label_index, -1) as label_index,
    coalesce(a.absent_index, -1) as absent_index,
    isinf(s.log_likelihood) as is_impossible,
    cast(sum(g.n) as double) as n,
    fsum(g.n * cast(coalesce(g.weight, 1) as double)) as weight
from temp.source_row as g
inner join temp.row_score as s on g.combination_id = s.combination_id
left join temp.actual_label as a on g.actual = a.code
group by all
