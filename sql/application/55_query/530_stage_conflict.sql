-- step:    stage_conflict
-- mode:    fetch
-- purpose: Whether histories with the same answers to the kept variables have different stages
--          of a variable, so that one of the variables left out matters.
-- reads:   configuration
-- writes:  stage_conflict(is_found)
-- params:  variable_index INTEGER, of the variable
--          kept INTEGER[], indexes of the variables kept
-- source:  docs/theory.md, section 10 (Bayesian networks), essential variables
with grouped as (
    select
        min(stage_key) as lowest,
        max(stage_key) as highest
    from temp.configuration
    where variable_index = $variable_index and is_counted
    group by [answers[i] for i in cast($kept as integer[])]
)

select count(*) > 0 as is_found
from grouped
where lowest < highest
