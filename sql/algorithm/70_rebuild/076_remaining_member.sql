-- step:    remaining_member
-- mode:    create
-- purpose: The situations whose stage was given before the rebuild, with that stage.
-- reads:   remaining_situation
-- writes:  remaining_member(vertex_id, name, shown_name)
-- params:  none
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    vertex_id,
    cast(stage_id as varchar) as name,
    name as shown_name
from temp.remaining_situation
where kind = 'given'
