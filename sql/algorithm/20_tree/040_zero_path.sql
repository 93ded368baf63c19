-- step:    zero_path
-- mode:    append temp.path_row
-- purpose: The sampling zeros of one variable, as paths without rows that stop there: each
--          value missing where the question was put to somebody, whether all, some or none of
--          these answered it, unless it is presumed or declared impossible; if $is_full, also
--          each value below a vertex that nobody reached, or that it does not apply there.
-- reads:   path_row, impossible_digit, presumed_answer, unreached_history, stopped_prefix
-- writes:  path_row(code, n, is_included)
-- params:  level INTEGER, variables before this one
--          divisor BIGINT, what the variable's digit of a path code is multiplied by
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
    select
        prefix,
        false as is_closed
    from cell
    group by prefix
    having bool_or(digit between 1 and $structural_code - 1 or (digit = 0 and n > 0))
    union all
    select
        prefix,
        is_closed
    from temp.unreached_history
    where
        $is_full
        and ($previous_radix = 1 or prefix % $previous_radix > 0)
),

candidate as (
    select
        f.prefix,
        d.digit,
        (f.prefix * $radix + d.digit) * $divisor as code
    from floret as f
    cross join (select unnest(range(1, $structural_code + 1)) as digit) as d
    where
        if(f.is_closed, d.digit = $structural_code, d.digit <= $n_values)
        and (
            $previous_radix > 1
            or f.prefix not in (select h.prefix_id from temp.stopped_prefix as h)
        )
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
left join temp.presumed_answer as z
    on z.level = $level and c.prefix = z.prefix and c.digit = z.digit
where z.prefix is null and c.code not in (select i.code from impossible as i)
