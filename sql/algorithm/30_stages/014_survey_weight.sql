-- step:    survey_weight
-- mode:    fetch
-- purpose: The respondents of a survey, the sum of their weights, and that of the squares.
-- reads:   the coded rows of the survey (response_1, response_2, ...)
-- writes:  survey_weight(n, weight, weight_sq)
-- params:  source VARCHAR, the table of coded rows
-- source:  Kish (1965), Survey Sampling; docs/theory.md, section 1 (Event trees from data)
select
    sum(n) as n,
    cast(sum(weight) as double) as weight,
    cast(sum(weight_sq) as double) as weight_sq
from query_table($source)
