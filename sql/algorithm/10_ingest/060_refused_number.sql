-- step:    refused_number
-- mode:    fetch
-- purpose: The distinct texts in the column of counts, or of weights, that are not valid
--          numbers: the first five, and how many there are.
-- reads:   parsed_line
-- writes:  refused_number(text, n_texts)
-- params:  kind VARCHAR, count or weight
-- source:  serves ingest
select
    if($kind = 'count', count_text, weight_text) as text,
    count(*) over () as n_texts
from temp.parsed_line
where if($kind = 'count', is_bad_count, is_bad_weight)
group by text
order by text
limit 5
