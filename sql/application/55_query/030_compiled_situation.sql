-- step:    compiled_situation
-- mode:    create
-- purpose: The situations of a staged tree with their variable, like the positions of a CEG
--          that merges none of them; one sink, with the id sink_id, stands for all leaves.
-- reads:   vertex, stage_member
-- writes:  compiled_situation(position_id, stage_id, height, variable_id)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          sink_id BIGINT, above all vertices
-- source:  docs/theory.md, section 8 (Probability propagation)
select
    v.vertex_id as position_id,
    m.stage_id,
    v.height,
    v.variable_id
from cegdb.vertex as v
inner join cegdb.stage_member as m
    on m.staging_id = $staging_id and v.vertex_id = m.vertex_id
where v.tree_id = $tree_id and v.variable_id is not null
union all
select
    $sink_id as position_id,
    -1 as stage_id,
    0 as height,
    -1 as variable_id
