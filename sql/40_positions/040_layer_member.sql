-- step:    layer_member
-- mode:    append temp.position_of
-- purpose: The members of the blocks of one height take their position.
-- reads:   layer_block
-- writes:  position_of(vertex_id, position_id)
-- params:  none
-- source:  Shenvi & Smith (2020), section 3, step i
select
    unnest(members) as vertex_id,
    position_id
from temp.layer_block
