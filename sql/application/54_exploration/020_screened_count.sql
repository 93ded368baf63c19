-- step:    screened_count
-- mode:    create
-- purpose: The respondents with each answer to each of many variables, by their answer to one
--          outcome and by the configuration of the variables chosen before.
-- reads:   screened_row
-- writes:  screened_count(ordinal, configuration, answer, outcome, n, weight, weight_sq)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents), many variables
with counted as (
    select
        variable,
        configuration,
        answer,
        outcome,
        sum(n) as n,
        sum(weight) as weight,
        sum(weight_sq) as weight_sq
    from (
        unpivot temp.screened_row
        on columns(* exclude (configuration, outcome, n, weight, weight_sq))
        into name variable value answer
    )
    group by variable, configuration, answer, outcome
)

select
    cast(substr(variable, 2) as integer) as ordinal,
    configuration,
    answer,
    outcome,
    cast(n as double) as n,
    cast(weight as double) as weight,
    cast(weight_sq as double) as weight_sq
from counted
order by ordinal, configuration, answer, outcome
