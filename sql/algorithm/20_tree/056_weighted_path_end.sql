-- step:    weighted_path_end
-- mode:    view
-- purpose: Number of rows at the end of each path, for a survey with weights, and the sums of
--          the weights and of their squares.
-- reads:   path_row
-- writes:  weighted_path_end(code, n, weight, weight_sq)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data), step 2
select
    code,
    cast(sum(n) as bigint) as n,
    coalesce(sum(weight), 0) as weight,
    coalesce(sum(weight_sq), 0) as weight_sq
from temp.path_row
where code >= 0
group by code
