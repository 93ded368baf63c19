-- step:    refused_row
-- mode:    fetch
-- purpose: The first five rows of a source whose count, or weight, is not a valid number, and
--          how many there are.
-- reads:   parsed_row
-- writes:  refused_row(row_number, text, n_rows)
-- params:  kind VARCHAR, count or weight
-- source:  serves ingest, and answers for each row of a file (assign, complete, score)
select
    row_number,
    if($kind = 'count', count_text, weight_text) as text,
    count(*) over () as n_rows
from temp.parsed_row
where if($kind = 'count', is_bad_count, is_bad_weight)
order by row_number
limit 5
