-- step:    conditioned_member
-- mode:    append cegdb.position_member
-- purpose: The vertices that can be reached given evidence, each with its position.
-- reads:   conditioned_vertex, node_position
-- writes:  position_member(ceg_id, vertex_id, position_id)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 8 (Probability propagation), evidence (c)
select
    $ceg_id as ceg_id,
    c.vertex_id,
    p.position_id
from temp.conditioned_vertex as c
inner join temp.node_position as p on c.node = p.node
order by c.vertex_id
