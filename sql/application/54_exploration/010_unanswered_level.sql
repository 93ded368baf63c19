-- step:    unanswered_level
-- mode:    fetch
-- purpose: At each level of each variable, which of some others are without an answer in every
--          row, and in some row: what may decide whether those questions apply. One bit for
--          each condition and variable.
-- reads:   unanswered_row
-- writes:  unanswered_level(ordinal, code, in_every, in_some)
-- params:  none
-- source:  docs/theory.md, section 16 (Limiting the number of parents), many variables
with level_bits as (
    select
        variable,
        code,
        bit_and(every_bits) as in_every,
        bit_or(some_bits) as in_some
    from (
        unpivot temp.unanswered_row
        on columns(* exclude (every_bits, some_bits))
        into name variable value code
    )
    group by variable, code
)

select
    cast(substr(variable, 2) as integer) as ordinal,
    code,
    cast(in_every as varchar) as in_every,
    cast(in_some as varchar) as in_some
from level_bits
order by ordinal, code
