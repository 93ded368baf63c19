-- step:    ceg_member
-- mode:    append cegdb.position_member
-- purpose: The position of each vertex; leaves belong to the sink.
-- reads:   position_of
-- writes:  position_member(ceg_id, vertex_id, position_id)
-- params:  ceg_id INTEGER, the CEG
-- source:  DESIGN 4
select
    $ceg_id as ceg_id,
    vertex_id,
    position_id
from temp.position_of
order by vertex_id
