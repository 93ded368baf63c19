-- step:    recorded_frozen
-- mode:    append temp.given_group
-- purpose: The given stages of a staging, which learning left unchanged.
-- reads:   recorded_member
-- writes:  given_group(role, vertex_id, name)
-- params:  none
-- source:  serves the bootstrap of stagings, which learns the stages again
select
    'frozen' as role,
    vertex_id,
    cast(stage_id as varchar) as name
from temp.recorded_member
where kind = 'given'
