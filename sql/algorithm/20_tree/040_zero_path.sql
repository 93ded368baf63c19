-- step:    zero_path
-- mode:    append temp.path_row
-- purpose: The sampling zeros of one variable, as paths without rows that stop there: each
--          value missing where the question was put to somebody, whether all, some or none of
--          these answered it; if $is_full, also each value below a vertex that nobody reached.
-- reads:   path_row, impossible_digit, stopped_prefix
-- writes:  path_row(code, n, is_included)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          previous_radix INTEGER, of the variable before it; 1 if the code starts here
--          n_values INTEGER, digits 1 .. n_values are values
--          structural_code INTEGER, the digit of a cell that does not apply
--          is_full BOOLEAN, whether vertices without rows are expanded too
-- source:  docs/theory.md, section 1 (Event trees from data);
--          docs/theory.md, section 14 (Structural and sampling zeros)
with cell as (
    select
        code // ($divisor * $radix) as prefix,
        (code // $divisor) % $radix as digit,
        n
    from temp.path_row
    where
        code >= 0
        and is_included
        and ($previous_radix = 1 or (code // ($divisor * $radix)) % $previous_radix > 0)
),

floret as (
    select prefix
    from cell
    group by prefix
    having
        bool_or(digit between 1 and $structural_code - 1 or (digit = 0 and n > 0))
        or ($is_full and sum(n) = 0 and max(digit) = 0)
),

candidate as (
    select (f.prefix * $radix + d.digit) * $divisor as code
    from floret as f
    cross join (select unnest(range(1, $n_values + 1)) as digit) as d
    where
        $previous_radix > 1
        or f.prefix not in (select h.prefix_id from temp.stopped_prefix as h)
),

impossible as (
    select c.code
    from candidate as c
    cross join temp.impossible_digit as i
    group by c.code, i.rule_id
    having bool_and((c.code // i.divisor) % i.radix = i.digit)
)

select
    c.code,
    0 as n,
    true as is_included
from candidate as c
where c.code not in (select i.code from impossible as i)
