-- step:    path_end
-- mode:    view
-- purpose: Number of rows at the end of each path, for a survey without weights. The columns
--          are as narrow as possible, since every later step carries them.
-- reads:   path_row
-- writes:  path_end(code, n, weight, weight_sq)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 2
select
    code,
    cast(sum(n) as bigint) as n,
    cast(null as tinyint) as weight,
    cast(null as tinyint) as weight_sq
from temp.path_row
where code >= 0
group by code
