-- step:    position_of
-- mode:    create
-- purpose: Step 1 of the recursion: all leaves melt into the sink, named by the smallest.
-- reads:   vertex
-- writes:  position_of(vertex_id, position_id)
-- params:  tree_id INTEGER, the tree
-- source:  Shenvi & Smith (2020), section 3, step 1
select
    v.vertex_id,
    min(v.vertex_id) over () as position_id
from cegdb.vertex as v
where v.tree_id = $tree_id and v.variable_id is null
