-- step:    layer_block
-- mode:    create
-- purpose: The positions of one height: blocks of situations with equal stage and floret,
--          named by the smallest. As many blocks as situations: nothing merged, stop.
-- reads:   layer_signature
-- writes:  layer_block(position_id, members)
-- params:  none
-- source:  Shenvi & Smith (2020), section 3, step i, and Theorem 2; SPEC 2.2, Theorem 2'
select
    min(vertex_id) as position_id,
    list(vertex_id) as members
from temp.layer_signature
group by stage_id, floret
