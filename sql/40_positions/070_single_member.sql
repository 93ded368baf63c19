-- step:    single_member
-- mode:    append temp.position_of
-- purpose: Above the height at which the recursion stops every situation is its own
--          position.
-- reads:   vertex
-- writes:  position_of(vertex_id, position_id)
-- params:  tree_id INTEGER, the tree
--          height INTEGER, the lowest height not yet done
-- source:  Shenvi & Smith (2020), Theorem 2; SPEC 2.2, Theorem 2'
select
    vertex_id,
    vertex_id as position_id
from cegdb.vertex
where tree_id = $tree_id and height >= $height and variable_id is not null
