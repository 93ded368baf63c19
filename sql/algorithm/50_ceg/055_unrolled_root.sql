-- step:    unrolled_root
-- mode:    append temp.unrolled_vertex
-- purpose: The root of the recovered tree, a copy of the root position.
-- reads:   nothing
-- writes:  unrolled_vertex(vertex_id, depth, position_id)
-- params:  none
-- source:  docs/theory.md, section 3 (Recovering the staged tree)
select
    0 as vertex_id,
    0 as depth,
    0 as position_id
