-- step:    split_member
-- mode:    append temp.changed_member
-- purpose: The situations of a stage to split, by the parts that the user named.
-- reads:   split_row
-- writes:  changed_member(vertex_id, name)
-- params:  none
-- source:  serves joining, splitting and renaming stages by hand
select distinct
    vertex_id,
    'part ' || name as name
from temp.split_row
where is_in_stage
