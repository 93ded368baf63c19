-- step:    row_combination
-- mode:    create
-- purpose: The distinct combinations of answers in the rows of a source, in the order in which
--          they first occur.
-- reads:   coded_row
-- writes:  row_combination(combination_id, codes)
-- params:  none
-- source:  docs/architecture.md, section Cells;
--          serves answers for each row of a file (assign, complete, score)
with combination as (
    select
        cells,
        min(row_number) as first_row
    from temp.coded_row
    group by cells
)

select
    row_number() over (order by first_row) - 1 as combination_id,
    cells as codes
from combination
