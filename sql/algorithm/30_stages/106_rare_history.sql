-- step:    rare_history
-- mode:    fetch
-- purpose: How many situations only one or two respondents reached, and how many any did.
-- reads:   floret
-- writes:  rare_history(n_rare, n_reached)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents)
select
    count(*) filter (where n <= 2) as n_rare,
    count(*) as n_reached
from temp.floret
where n > 0
