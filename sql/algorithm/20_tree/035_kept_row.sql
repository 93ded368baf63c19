-- step:    kept_row
-- mode:    create
-- purpose: The rows that are not left out for a missing answer, when the variables fall into
--          several groups: sampling zeros of an earlier group must come from these alone.
-- reads:   path_row
-- writes:  kept_row(row_id)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data)
select row_id
from temp.path_row
where code >= 0
