-- step:    comparison_count
-- mode:    fetch
-- purpose: How many comparisons there are: two levels, an answer, a third variable with two
--          groups or more.
-- reads:   compared_share
-- writes:  comparison_count(n)
-- params:  none
-- source:  docs/theory.md, section 25 (Associations that turn)
with comparison as (
    select 1
    from temp.compared_share
    group by answer_id, first_id, second_id, by_id
    having count(*) > 1
)

select count(*) as n
from comparison
