-- step:    remaining_row
-- mode:    create
-- purpose: The rows that were not dropped for a missing answer, when the variables are split
--          into several groups: sampling zeros of an earlier group must come from these rows
--          only.
-- reads:   path_row
-- writes:  remaining_row(row_id)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data)
select row_id
from temp.path_row
where code >= 0
