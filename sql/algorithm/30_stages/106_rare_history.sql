-- step:    rare_history
-- mode:    fetch
-- purpose: How many situations only one or two respondents reached, how many any did, and how
--          many respondents the former have.
-- reads:   floret
-- writes:  rare_history(n_rare, n_reached, n_rows)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents)
select
    count(*) filter (where n <= 2) as n_rare,
    count(*) as n_reached,
    cast(coalesce(sum(n) filter (where n <= 2), 0) as bigint) as n_rows
from temp.floret
where n > 0
