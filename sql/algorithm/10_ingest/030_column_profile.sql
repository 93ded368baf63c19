-- step:    column_profile
-- mode:    fetch
-- purpose: A profile of each column: number of rows, blanks and distinct texts, how many of
--          these are numbers, whole numbers and dates, and the range and mean of the numbers.
-- reads:   column_text
-- writes:  column_profile(ordinal, n_rows, n_blank, n_texts, n_numbers, n_integers, n_dates,
--          lowest, highest, lowest_other, highest_other, mean)
-- params:  number VARCHAR, pattern of a number
--          date VARCHAR, pattern of a date
--          codes VARCHAR[], numbers that may mean no answer; a second range leaves them out
-- source:  serves the draft of a codebook.
with measured as (
    select
        *,
        case when regexp_full_match(trim(cell), $number) then try_cast(trim(cell) as double) end
            as x,
        list_contains(cast($codes as varchar[]), cell) as is_code
    from temp.column_text
)

select
    ordinal,
    coalesce(sum(n), 0) as n_rows,
    coalesce(sum(n) filter (where cell is null), 0) as n_blank,
    count(cell) as n_texts,
    count(cell) filter (where x is not null) as n_numbers,
    count(cell) filter (where regexp_full_match(cell, '[+-]?[0-9]+')) as n_integers,
    count(cell) filter (where regexp_full_match(cell, $date)) as n_dates,
    min(x) as lowest,
    max(x) as highest,
    min(x) filter (where not is_code) as lowest_other,
    max(x) filter (where not is_code) as highest_other,
    sum(x * n) / sum(n) filter (where x is not null) as mean
from measured
group by ordinal
