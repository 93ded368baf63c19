-- step:    coded_row
-- mode:    create
-- purpose: The rows without the answer to be predicted, counted: rows with the same answers,
--          the one to be predicted included, are one.
-- reads:   source_row, masked_combination
-- writes:  coded_row(row_number, cells, actual, n, weight)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves predictions for each row of a file (predict, classify, calibration)
select
    min(r.row_number) as row_number,
    m.cells,
    m.actual,
    sum(r.n) as n,
    fsum(r.n * cast(coalesce(r.weight, 1) as double)) / nullif(sum(r.n), 0) as weight
from temp.source_row as r
inner join temp.masked_combination as m on r.combination_id = m.combination_id
group by m.cells, m.actual
