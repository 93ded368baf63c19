-- step:    presumed_answer
-- mode:    append temp.presumed_answer
-- purpose: The answers to one variable that are presumed impossible where nobody gave them: at
--          least $fewest rows answered there, and if they answered as those elsewhere do, none
--          of them would give it with a probability below one in a million. Those declared
--          impossible are left out.
-- reads:   path_row, impossible_digit
-- writes:  presumed_answer(level, prefix, digit, n, n_with, n_without, log_p0)
-- params:  level INTEGER, variables before this one
--          divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          n_values INTEGER, digits 1 .. n_values are values
--          fewest BIGINT, situations of fewer rows are no evidence
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
with answer as (
    select
        code // ($divisor * $radix) as prefix,
        (code // $divisor) % $radix as digit,
        sum(n) as n
    from temp.path_row
    where
        code >= 0
        and is_included
        and n > 0
        and (code // $divisor) % $radix between 1 and $n_values
    group by prefix, digit
),

floret as (
    select
        prefix,
        sum(n) as n
    from answer
    group by prefix
),

total as (
    select
        d.digit,
        a.n
    from (
        select
            digit,
            sum(n) as n
        from answer
        group by digit
    ) as a
    inner join (select unnest(range(1, $n_values + 1)) as digit) as d on a.digit = d.digit
),

absent as (
    select
        f.prefix,
        t.digit,
        cast(f.n as bigint) as n,
        cast(t.n as bigint) as n_with,
        cast((select sum(b.n) from floret as b) - f.n - t.n as bigint) as n_without
    from floret as f
    cross join total as t
    left join answer as a on f.prefix = a.prefix and t.digit = a.digit
    where f.n >= $fewest and a.prefix is null
),

impossible as (
    select
        c.prefix,
        c.digit
    from absent as c
    cross join temp.impossible_digit as i
    group by c.prefix, c.digit, i.rule_id
    having bool_and(
        ((c.prefix * $radix + c.digit) * $divisor // i.divisor) % i.radix = i.digit
    )
),

judged as (
    select
        c.*,
        lgamma(c.n_without + c.n + 0.5) - lgamma(c.n_with + c.n_without + c.n + 1)
        - lgamma(c.n_without + 0.5) + lgamma(c.n_with + c.n_without + 1) as log_p0
    from absent as c
    left join (select distinct
        prefix,
        digit
    from impossible) as i
        on c.prefix = i.prefix and c.digit = i.digit
    where i.prefix is null
)

select
    cast($level as integer) as level,
    prefix,
    cast(digit as integer) as digit,
    n,
    n_with,
    n_without,
    log_p0
from judged
where log_p0 < ln(1e-6)
