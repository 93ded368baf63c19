-- step:    survey_weight
-- mode:    fetch
-- purpose: Number of respondents of a survey, and the sums of their weights and squared
--          weights.
-- reads:   the coded rows of the survey (response_1, response_2, ...)
-- writes:  survey_weight(n, weight, weight_sq)
-- params:  source VARCHAR, the table of coded rows, such as cegdb.response_1
-- source:  Kish (1965), Survey Sampling; docs/theory.md, section 1 (Event trees from data)
select
    sum(n) as n,
    cast(sum(weight) as double) as weight,
    cast(sum(weight_sq) as double) as weight_sq
from query_table($source)
