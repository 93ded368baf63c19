-- step:    refused_number
-- mode:    fetch
-- purpose: The distinct texts in the column of counts, or of weights, that are not valid
--          numbers; at most six.
-- reads:   parsed_line
-- writes:  refused_number(text)
-- params:  kind VARCHAR, count or weight
-- source:  serves ingest
select distinct if($kind = 'count', count_text, weight_text) as text
from temp.parsed_line
where if($kind = 'count', is_bad_count, is_bad_weight)
order by text
limit 6
