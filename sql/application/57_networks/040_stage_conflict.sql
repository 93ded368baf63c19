-- step:    stage_conflict
-- mode:    fetch
-- purpose: Whether histories with the same answers to some variables have different stages of a
--          later one, so that a variable left out matters.
-- reads:   history_stage
-- writes:  stage_conflict(has_conflict)
-- params:  variable_index INTEGER, of the variable
--          parents INTEGER[], indexes of the variables that may be parents
-- source:  docs/theory.md, section 10 (Bayesian networks), essential variables
with grouped as (
    select
        min(stage_key) as lowest,
        max(stage_key) as highest
    from temp.history_stage
    where variable_index = $variable_index and is_counted
    group by [answers[i] for i in cast($parents as integer[])]
)

select count(*) > 0 as has_conflict
from grouped
where lowest < highest
