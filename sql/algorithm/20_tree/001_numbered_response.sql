-- step:    numbered_response
-- mode:    create
-- purpose: The coded rows, numbered, with the index of their last answered question. Added
--          paths are rows without respondents.
-- reads:   survey_row, added_row
-- writes:  numbered_response(row_id, ..., n, weight, weight_sq, last_answer, is_included)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data)
with answer as (
    select * from temp.survey_row
    union all by name
    select
        *,
        0 as n
    from temp.added_row
)

select
    row_number() over () as row_id,
    *
from answer
