-- step:    layer_signature
-- mode:    create
-- purpose: Stage and floret of each situation of one height in G_{i-1}, where everything
--          lower is merged: equal rows are the same position.
-- reads:   vertex, edge, level, stage_member, position_of
-- writes:  layer_signature(vertex_id, stage_id, floret)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          height INTEGER, edges to a leaf on the LONGEST path, >= 1 (not the paper's
--          shortest, which misses merges where leaves lie at different depths)
-- source:  Shenvi & Smith (2020), Theorem 1; SPEC 2.2, Theorem 1'
select
    v.vertex_id,
    m.stage_id,
    list_sort(list(struct_pack(label_id := l.label_id, target_id := p.position_id))) as floret
from cegdb.vertex as v
inner join cegdb.stage_member as m on v.vertex_id = m.vertex_id
inner join cegdb.edge as e on v.vertex_id = e.parent_id
inner join cegdb.level as l on e.level_id = l.level_id
inner join temp.position_of as p on e.child_id = p.vertex_id
where
    v.tree_id = $tree_id
    and v.height = $height
    and m.staging_id = $staging_id
    and e.tree_id = $tree_id
group by v.vertex_id, m.stage_id
