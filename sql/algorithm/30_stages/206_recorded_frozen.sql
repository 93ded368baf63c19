-- step:    recorded_frozen
-- mode:    append temp.given_group
-- purpose: The stages of a staging that learning left as they were given.
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
