-- step:    weight_total
-- mode:    fetch
-- purpose: The weights in the receipt: their sum over respondents, their range, and the number
--          of lines with weight 0 or with more decimals than are kept. Lines with a count of 0
--          are left out.
-- reads:   parsed_line
-- writes:  weight_total(total, smallest, largest, n_zero, n_long)
-- params:  none
-- source:  serves ingest
select
    coalesce(sum(weight * cast(n_respondents * n_lines as bigint)), 0) as total,
    min(weight) as smallest,
    max(weight) as largest,
    coalesce(sum(n_lines) filter (where weight = 0), 0) as n_zero,
    coalesce(sum(n_lines) filter (where n_decimals > 12), 0) as n_long
from temp.parsed_line
where n_respondents > 0
