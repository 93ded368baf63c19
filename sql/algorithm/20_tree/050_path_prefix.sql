-- step:    path_prefix
-- mode:    append temp.path_prefix
-- purpose: Consecutive ids of the path codes so far, in order, so that the codes of the next
--          variables can start from these ids and stay below 2^62.
-- reads:   path_row
-- writes:  path_prefix(chunk, prefix_id, code)
-- params:  chunk INTEGER, which group of variables the codes span, from 0
-- source:  docs/architecture.md, section Scale
select
    $chunk as chunk,
    row_number() over (order by code) as prefix_id,
    code
from (select distinct p.code from temp.path_row as p where p.code >= 0) as d
