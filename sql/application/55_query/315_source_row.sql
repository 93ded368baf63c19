-- step:    source_row
-- mode:    create
-- purpose: The rows of a source with their combination of answers, and the columns to keep.
-- reads:   coded_row, row_combination
-- writes:  source_row(row_number, n, weight, combination_id)
-- params:  none
-- source:  docs/architecture.md, section Cells;
--          serves answers for each row of a file (assign, complete, score)
select
    r.* exclude (cells),
    c.combination_id
from temp.coded_row as r
inner join temp.row_combination as c on r.cells = c.codes
order by r.row_number
