-- step:    predicted_row
-- mode:    create
-- purpose: The rows to be predicted, with the answers that they are predicted from.
-- reads:   source_row, masked_combination
-- writes:  predicted_row(row_number, cells)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves predictions for each row of a file (predict, classify, calibration)
select
    r.row_number,
    m.cells
from temp.source_row as r
inner join temp.masked_combination as m on r.combination_id = m.combination_id
