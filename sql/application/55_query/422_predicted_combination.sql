-- step:    predicted_combination
-- mode:    create
-- purpose: The rows to be predicted, each with its combination of the answers that it is
--          predicted from.
-- reads:   predicted_row, row_combination
-- writes:  predicted_combination(row_number, combination_id)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves predictions for each row of a file (predict, classify, calibration)
select
    r.row_number,
    c.combination_id
from temp.predicted_row as r
inner join temp.row_combination as c on r.cells = c.codes
order by r.row_number
