-- step:    listed_text
-- mode:    fetch
-- purpose: All texts of the columns that have few enough to list.
-- reads:   column_text
-- writes:  listed_text(ordinal, cell, n)
-- params:  ordinals INTEGER[], the columns
-- source:  serves the draft of a codebook.
select
    ordinal,
    cell,
    n
from temp.column_text
where list_contains(cast($ordinals as integer[]), ordinal)
