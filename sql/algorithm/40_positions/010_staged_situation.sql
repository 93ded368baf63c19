-- step:    staged_situation
-- mode:    create
-- purpose: The situations of the staged tree, with their stage.
-- reads:   vertex, stage_member
-- writes:  staged_situation(vertex_id, height, stage_id, n)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3, step 0
select
    v.vertex_id,
    v.height,
    m.stage_id,
    v.n
from cegdb.vertex as v
inner join cegdb.stage_member as m
    on m.staging_id = $staging_id and v.vertex_id = m.vertex_id
where v.tree_id = $tree_id and v.variable_id is not null
