-- step:    distinct_answer
-- mode:    create
-- purpose: The distinct coded rows of some variables, sorted, with their counts and the sums of
--          weights and squared weights.
-- reads:   chosen_answer
-- writes:  distinct_answer(..., n, weight, weight_sq)
-- params:  none
-- source:  serves a search over orders of the variables
select
    * exclude (n, weight, weight_sq),
    cast(sum(n) as double) as n,
    cast(sum(weight) as double) as weight,
    cast(sum(weight_sq) as double) as weight_sq
from temp.chosen_answer
group by all
order by all
