-- step:    path_row
-- mode:    create
-- purpose: The path codes of the rows once the blank and missing cells of one variable are
--          decided. A structural cell gets its digit. A row with a missing answer, by $policy,
--          stops (this digit and all later ones are 0), is dropped (code -1), or keeps the
--          digit of the label 'missing'.
-- reads:   path_row, gate_floret
-- writes:  path_row(row_id, code, n, weight, weight_sq, last_answer, is_included)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          n_values INTEGER, digits 1 .. n_values are values
--          blank_code INTEGER, the digit of a blank cell
--          structural_code INTEGER, the digit of a cell that does not apply
--          missing_code INTEGER, the digit a blank has as a category
--          policy VARCHAR, prefix, complete or category
-- source:  docs/theory.md, section 1 (Event trees from data)
with cell as (
    select
        p.row_id,
        p.code,
        p.n,
        p.weight,
        p.weight_sq,
        p.last_answer,
        p.is_included,
        (p.code // $divisor) % $radix as digit,
        g.blank_structural,
        g.missing_structural
    from temp.path_row as p
    left join temp.gate_floret as g on p.code // ($divisor * $radix) = g.prefix
)

select
    row_id,
    case
        when code < 0 or digit <= $n_values or digit > $blank_code then code
        when missing_structural or (digit = $blank_code and blank_structural)
            then code + ($structural_code - digit) * $divisor
        when $policy = 'prefix'
            then (code // ($divisor * $radix)) * ($divisor * $radix)
        when $policy = 'complete' then -1
        when digit = $blank_code then code + ($missing_code - digit) * $divisor
        else code
    end as code,
    n,
    weight,
    weight_sq,
    last_answer,
    is_included
from cell
