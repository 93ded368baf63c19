-- step:    given_row
-- mode:    create
-- purpose: The given rows, each with its combination of answers and the columns to keep.
-- reads:   coded_row, given_combination
-- writes:  given_row(row_number, n, weight, combination_id)
-- params:  none
-- source:  docs/architecture.md, section Cells;
--          serves answers for each row of a file (assign, complete, score)
select
    r.* exclude (cells),
    c.combination_id
from temp.coded_row as r
inner join temp.given_combination as c on r.cells = c.codes
order by r.row_number
