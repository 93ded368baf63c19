-- step:    layer_block
-- mode:    create
-- purpose: The positions of one height: blocks of situations with equal stage and floret,
--          named by the smallest.
-- reads:   layer_signature
-- writes:  layer_block(position_id, members, n_edges)
-- params:  none
-- source:  Shenvi & Smith (2020), section 3, step i
select
    min(vertex_id) as position_id,
    list(vertex_id) as members,
    len(floret) as n_edges
from temp.layer_signature
group by stage_id, floret
