-- step:    vertex_position
-- mode:    create
-- purpose: The position of each situation of a tree in a CEG; in a staged tree, without a CEG,
--          each situation is its own. Situations that the evidence of a CEG excludes are left
--          out.
-- reads:   position_member, vertex
-- writes:  vertex_position(vertex_id, position_id)
-- params:  tree_id INTEGER, the tree
--          ceg_id INTEGER, the CEG; null for the staged tree
-- source:  docs/theory.md, section 17 (Uncertainty of answers)
select
    v.vertex_id,
    if($ceg_id is null, v.vertex_id, p.position_id) as position_id
from cegdb.vertex as v
left join cegdb.position_member as p on p.ceg_id = $ceg_id and v.vertex_id = p.vertex_id
where
    v.tree_id = $tree_id
    and v.variable_id is not null
    and ($ceg_id is null or p.position_id is not null)
