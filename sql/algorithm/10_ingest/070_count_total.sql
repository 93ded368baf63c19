-- step:    count_total
-- mode:    fetch
-- purpose: How many respondents all lines stand for, and how many lines have a count of 0.
-- reads:   parsed_line
-- writes:  count_total(n_respondents, n_zero)
-- params:  none
-- source:  serves ingest
select
    coalesce(sum(n_respondents * n_lines), 0) as n_respondents,
    coalesce(sum(n_lines) filter (where n_respondents = 0), 0) as n_zero
from temp.parsed_line
