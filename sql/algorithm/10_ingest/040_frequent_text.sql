-- step:    frequent_text
-- mode:    fetch
-- purpose: For one column with very many texts: the most frequent ones, and those that may have
--          a meaning, such as codes for no answer, texts that the file labels, and words for no
--          answer.
-- reads:   column_text
-- writes:  frequent_text(cell, n)
-- params:  ordinal INTEGER, the column
--          most INTEGER, how many of the most frequent ones
--          texts VARCHAR[], further texts to find, exactly as written
--          words VARCHAR[], further texts to find, in any case
-- source:  serves the draft of a codebook.
select
    cell,
    n
from temp.column_text
where ordinal = $ordinal and cell is not null
qualify
    row_number() over (order by n desc, cell asc) <= $most
    or list_contains(cast($texts as varchar[]), cell)
    or list_contains(cast($words as varchar[]), lower(trim(cell)))
order by n desc, cell asc
