-- step:    refused_row
-- mode:    fetch
-- purpose: The first rows of a source whose count, or weight, is not a valid number; at most
--          six.
-- reads:   parsed_row
-- writes:  refused_row(row_number, text)
-- params:  kind VARCHAR, count or weight
-- source:  serves ingest, and answers for each row of a file (assign, complete, score)
select
    row_number,
    if($kind = 'count', count_text, weight_text) as text
from temp.parsed_row
where if($kind = 'count', is_bad_count, is_bad_weight)
order by row_number
limit 6
