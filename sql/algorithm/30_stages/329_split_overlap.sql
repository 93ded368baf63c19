-- step:    split_overlap
-- mode:    fetch
-- purpose: The first situation that was named for two parts of a stage.
-- reads:   changed_member
-- writes:  split_overlap(vertex_id)
-- params:  none
-- source:  serves joining, splitting and renaming stages by hand
select vertex_id
from temp.changed_member
group by vertex_id
having count(*) > 1
order by vertex_id
limit 1
