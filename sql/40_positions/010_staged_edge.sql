-- step:    staged_edge
-- mode:    create
-- purpose: G_0: the edges of the staged tree, with height and stage of their situation and
--          the label that the staging gives them.
-- reads:   edge, level, relabelled_edge, vertex, stage_member
-- writes:  staged_edge(vertex_id, height, stage_id, level_id, label_id, child_id, n,
--          weight)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3, step 0; SPEC 5
select
    e.parent_id as vertex_id,
    v.height,
    m.stage_id,
    e.level_id,
    coalesce(r.label_id, l.label_id) as label_id,
    e.child_id,
    e.n,
    e.weight
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.vertex as v on v.tree_id = $tree_id and e.parent_id = v.vertex_id
inner join cegdb.stage_member as m
    on m.staging_id = $staging_id and e.parent_id = m.vertex_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
where e.tree_id = $tree_id
