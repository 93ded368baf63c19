-- step:    non_numeric_text
-- mode:    fetch
-- purpose: The most frequent texts of one column that are not numbers.
-- reads:   column_text
-- writes:  non_numeric_text(cell)
-- params:  ordinal INTEGER, the column
--          number VARCHAR, pattern of a number
--          most INTEGER, how many
-- source:  serves the draft of a codebook.
select cell
from temp.column_text
where ordinal = $ordinal and not regexp_full_match(trim(cell), $number)
order by n desc, cell asc
limit $most
