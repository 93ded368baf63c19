-- step:    gate_floret
-- mode:    create
-- purpose: The histories after which some cell of one variable is blank or missing, and what it
--          means there. By $blank, a blank is structural or missing; with 'auto' it is
--          structural after a history of at least $gate_min_rows rows that has only blanks,
--          else missing. Where the question applies to nobody, a missing answer is structural
--          too.
-- reads:   path_row
-- writes:  gate_floret(prefix, n, blank_structural, missing_structural)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          n_values INTEGER, digits 1 .. n_values are values
--          blank_code INTEGER, the digit of a blank cell; missing ones lie between
--          structural_code INTEGER, the digit of a cell that does not apply
--          blank VARCHAR, auto, structural or missing
--          policy VARCHAR, prefix, complete or category
--          gate_min_rows INTEGER, rows that a history needs for its blanks to be structural
-- source:  docs/architecture.md, section Cells;
--          docs/theory.md, section 1 (Event trees from data)
with cell as (
    select
        code // ($divisor * $radix) as prefix,
        (code // $divisor) % $radix as digit,
        n
    from temp.path_row
    where code >= 0
),

floret as (
    select
        prefix,
        sum(n) as n,
        bool_or(digit <= $n_values) as has_value,
        bool_or(digit = $structural_code) as has_structural,
        bool_or(digit = $blank_code) as has_blank,
        case $blank
            when 'structural' then true
            when 'missing' then false
            else
                bool_and(digit = $blank_code or (n = 0 and digit = $structural_code))
                and sum(n) >= $gate_min_rows
        end as blank_structural
    from cell
    where digit > 0
    group by prefix
    having bool_or(digit > $n_values and digit <= $blank_code)
)

select
    prefix,
    n,
    blank_structural,
    $policy = 'prefix'
    and not has_value
    and (has_structural or (has_blank and blank_structural)) as missing_structural
from floret
