-- step:    answer_pair
-- mode:    fetch
-- purpose: The respondents with each pair of answers to two variables in each stratum; those
--          who lack an answer are counted together.
-- reads:   paired_row
-- writes:  answer_pair(stratum, first, second, n, weight, weight_sq)
-- params:  none
-- source:  docs/theory.md, section 9.3 (An algebraic test for any independence), test on the
--          data
with answered as (
    select
        if(first is null or second is null, null, stratum) as stratum,
        first,
        second,
        n,
        weight,
        weight_sq
    from temp.paired_row
)

select
    stratum,
    if(stratum is null, null, first) as first,
    if(stratum is null, null, second) as second,
    cast(sum(n) as bigint) as n,
    cast(sum(weight) as double) as weight,
    cast(sum(weight_sq) as double) as weight_sq
from answered
group by
    stratum,
    if(stratum is null, null, first),
    if(stratum is null, null, second)
order by stratum, first, second
