-- step:    differing_situation
-- mode:    create
-- purpose: The situations whose stage in another staging of the same tree is not the one
--          matched with their stage, with the answers that lead to them.
-- reads:   stage_match, stage_member, edge, level, vertices, stages
-- writes:  differing_situation(situation, variable, path, stage_a, stage_a_in_b, stage_b, n,
--          vertex_id)
-- params:  tree_id INTEGER, the tree
--          tree VARCHAR, its name
--          staging_id INTEGER, the staging
--          staging VARCHAR, its name
--          other_staging_id INTEGER, the other
--          other_staging VARCHAR, its name
-- source:  serves the comparison of stagings (cegdb compare)
with recursive differing as (
    select
        a.vertex_id,
        a.stage_id,
        b.stage_id as other_id,
        m.other_id as matched_id
    from cegdb.stage_member as a
    inner join cegdb.stage_member as b on a.vertex_id = b.vertex_id
    left join temp.stage_match as m on a.stage_id = m.stage_id
    where
        a.staging_id = $staging_id
        and b.staging_id = $other_staging_id
        and b.stage_id is distinct from m.other_id
),

up as (
    select
        vertex_id,
        vertex_id as ancestor_id,
        cast(null as varchar) as path
    from differing
    union all
    select
        u.vertex_id,
        e.parent_id as ancestor_id,
        if(u.path is null, l.label, l.label || ' -> ' || u.path) as path
    from up as u
    inner join cegdb.edge as e on e.tree_id = $tree_id and u.ancestor_id = e.child_id
    inner join cegdb.level as l on e.level_id = l.level_id
)

select
    v.vertex as situation,
    v.variable,
    coalesce(u.path, '') as path,
    a.stage as stage_a,
    m.stage as stage_a_in_b,
    b.stage as stage_b,
    v.n,
    d.vertex_id
from differing as d
inner join up as u on d.vertex_id = u.vertex_id and u.ancestor_id = 0
inner join cegdb.vertices as v on v.tree = $tree and d.vertex_id = v.vertex_id
inner join cegdb.stages as a on a.staging = $staging and d.stage_id = a.stage_id
inner join cegdb.stages as b on b.staging = $other_staging and d.other_id = b.stage_id
left join cegdb.stages as m on m.staging = $other_staging and d.matched_id = m.stage_id
