-- step:    ceg_member
-- mode:    append cegdb.position_member
-- purpose: The position of each vertex; the leaves belong to the sink.
-- reads:   position_of, vertex, block
-- writes:  position_member(ceg_id, vertex_id, position_id)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
-- source:  docs/theory.md, section 2 (Positions and the backward recursion);
--          docs/architecture.md, section Tables
select
    $ceg_id as ceg_id,
    vertex_id,
    position_id
from temp.position_of
union all
select
    $ceg_id as ceg_id,
    v.vertex_id,
    b.position_id
from cegdb.vertex as v
inner join temp.block as b on b.height = 0
where v.tree_id = $tree_id and v.variable_id is null
order by vertex_id
