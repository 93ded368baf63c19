-- step:    former_stage_name
-- mode:    append temp.given_group
-- purpose: The names that stages had before the rebuild, by situation.
-- reads:   remaining_situation
-- writes:  given_group(role, vertex_id, shown_name)
-- params:  none
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    'kept' as role,
    vertex_id,
    name as shown_name
from temp.remaining_situation
where name is not null
