-- step:    stage_pair
-- mode:    create
-- purpose: Each stage of a staging with each stage of another staging of the same tree that
--          shares situations with it, and the variable of these situations (null if they have
--          several).
-- reads:   staging, stage_member, vertex
-- writes:  stage_pair(stage_id, other_id, variable_id, n_shared)
-- params:  staging_id INTEGER, the staging
--          other_staging_id INTEGER, the other
-- source:  serves the comparison of stagings (cegdb compare)
select
    a.stage_id,
    b.stage_id as other_id,
    if(min(v.variable_id) = max(v.variable_id), min(v.variable_id), null) as variable_id,
    count(*) as n_shared
from cegdb.stage_member as a
inner join cegdb.stage_member as b on a.vertex_id = b.vertex_id
inner join cegdb.staging as g on a.staging_id = g.staging_id
inner join cegdb.vertex as v on g.tree_id = v.tree_id and a.vertex_id = v.vertex_id
where a.staging_id = $staging_id and b.staging_id = $other_staging_id
group by a.stage_id, b.stage_id
