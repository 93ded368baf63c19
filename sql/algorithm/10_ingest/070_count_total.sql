-- step:    count_total
-- mode:    fetch
-- purpose: Number of respondents that all lines stand for, and number of lines with a count of
--          0.
-- reads:   parsed_line
-- writes:  count_total(n_respondents, n_zero)
-- params:  none
-- source:  serves ingest
select
    coalesce(sum(n_respondents * n_lines), 0) as n_respondents,
    coalesce(sum(n_lines) filter (where n_respondents = 0), 0) as n_zero
from temp.parsed_line
