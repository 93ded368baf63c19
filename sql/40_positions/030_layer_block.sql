-- step:    layer_block
-- mode:    create
-- purpose: The positions of one height in G_{i-1}, where everything lower is merged: blocks
--          of situations with equal signature (stage and floret), named by the smallest. As
--          many blocks as situations: nothing merged, stop.
-- reads:   staged_edge, position_of
-- writes:  layer_block(position_id, members)
-- params:  height INTEGER, edges to a leaf on the LONGEST path, >= 1 (not the paper's
--          shortest, which misses merges where leaves lie at different depths)
-- source:  Shenvi & Smith (2020), section 3, step i, Theorems 1 and 2; SPEC 2.2, Theorems
--          1' and 2'
with signature as (
    select
        e.vertex_id,
        e.stage_id,
        list_sort(list(struct_pack(label_id := e.label_id, target_id := p.position_id)))
            as floret
    from temp.staged_edge as e
    inner join temp.position_of as p on e.child_id = p.vertex_id
    where e.height = $height
    group by e.vertex_id, e.stage_id
)

select
    min(vertex_id) as position_id,
    list(vertex_id) as members
from signature
group by stage_id, floret
