-- step:    split_unknown
-- mode:    fetch
-- purpose: The situations named for a part of a stage (s0, s1, ...) that the tree does not have.
-- reads:   split_row
-- writes:  split_unknown(situation)
-- params:  none
-- source:  serves joining, splitting and renaming stages by hand
select distinct situation
from temp.split_row
where vertex_id is null
order by situation
