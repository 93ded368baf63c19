-- step:    unrolled_vertex
-- mode:    append temp.unrolled_vertex
-- purpose: The vertices of the recovered tree one edge deeper: for each copy of a position, one
--          copy of the target of each of its edges, numbered breadth first in level order.
-- reads:   unrolled_vertex, ceg_edge, label_order
-- writes:  unrolled_vertex(vertex_id, parent_id, depth, position_id, label_id)
-- params:  ceg_id INTEGER, the CEG
--          depth INTEGER, edges from the root, >= 1
--          n_before BIGINT, number of vertices closer to the root
-- source:  Shenvi & Smith (2020), Theorem 3;
--          docs/theory.md, section 3 (Recovering the staged tree)
select
    $n_before + row_number() over (order by v.vertex_id, r.level_id) - 1 as vertex_id,
    v.vertex_id as parent_id,
    $depth as depth,
    e.target_id as position_id,
    e.label_id
from temp.unrolled_vertex as v
inner join cegdb.ceg_edge as e on e.ceg_id = $ceg_id and v.position_id = e.source_id
inner join temp.label_order as r
    on e.source_id = r.source_id and e.label_id = r.label_id
where v.depth = $depth - 1
