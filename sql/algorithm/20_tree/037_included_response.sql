-- step:    included_response
-- mode:    view
-- purpose: The coded rows. is_included is true only for those not dropped for a missing answer,
--          since only they can make sampling zeros.
-- reads:   numbered_response, remaining_row
-- writes:  included_response(row_id, ..., n, weight, weight_sq, last_answer, is_included)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data)
select
    r.* exclude (is_included),
    i.row_id is not null as is_included
from temp.numbered_response as r
left join temp.remaining_row as i on r.row_id = i.row_id
