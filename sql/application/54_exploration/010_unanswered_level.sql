-- step:    unanswered_level
-- mode:    fetch
-- purpose: Of the respondents with each level of one variable, how many have no answer to
--          another: what may decide whether that question applies.
-- reads:   unanswered_row
-- writes:  unanswered_level(unanswered, ordinal, code, n)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents), many variables
with level_cell as (
    select
        variable,
        code,
        unanswered,
        sum(n) as n
    from (
        unpivot temp.unanswered_row
        on columns(* exclude (unanswered, n))
        into name variable value code
    )
    group by variable, code, unanswered
),

pair as (
    select
        unnest(unanswered) as unanswered,
        cast(substr(variable, 2) as integer) as ordinal,
        code,
        n
    from level_cell
)

select
    unanswered,
    ordinal,
    code,
    cast(sum(n) as bigint) as n
from pair
group by unanswered, ordinal, code
order by unanswered, ordinal, code
