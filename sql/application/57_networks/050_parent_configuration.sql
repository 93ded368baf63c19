-- step:    parent_configuration
-- mode:    fetch
-- purpose: The stage of a variable for each combination of answers to its parents, null where
--          no history counts, with the rows to which the variable applies and their
--          probability.
-- reads:   history_stage
-- writes:  parent_configuration(answers, stage_key, n, applicable_mass)
-- params:  variable_index INTEGER, of the variable
--          parents INTEGER[], indexes of its parents
-- source:  docs/theory.md, section 10 (Bayesian networks)
select
    [answers[i] for i in cast($parents as integer[])] as answers,
    min(stage_key) filter (where is_counted) as stage_key,
    cast(sum(n) as bigint) as n,
    list_sum(list_sort(list(applicable_mass))) as applicable_mass
from temp.history_stage
where variable_index = $variable_index
group by [answers[i] for i in cast($parents as integer[])]
order by answers
