-- step:    screened_configuration
-- mode:    fetch
-- purpose: The respondents with each outcome in each configuration of the variables chosen so
--          far.
-- reads:   screened_row
-- writes:  screened_configuration(configuration, outcome, n, weight, weight_sq)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents), many variables
select
    configuration,
    outcome,
    cast(sum(n) as double) as n,
    cast(sum(weight) as double) as weight,
    cast(sum(weight_sq) as double) as weight_sq
from temp.screened_row
group by configuration, outcome
order by configuration, outcome
