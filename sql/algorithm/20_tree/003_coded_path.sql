-- step:    coded_path
-- mode:    view
-- purpose: The path codes of the rows before any cell is decided. The root, code 0, is among
--          them even if every row is left out for a missing answer.
-- reads:   coded_response
-- writes:  coded_path(row_id, code, n, weight, weight_sq, last_answer, is_included)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data)
select
    row_id,
    code,
    n,
    weight,
    weight_sq,
    last_answer,
    is_included
from temp.coded_response
union all
select
    null as row_id,
    0 as code,
    0 as n,
    null as weight,
    null as weight_sq,
    0 as last_answer,
    true as is_included
