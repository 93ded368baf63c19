-- step:    pooled_situation
-- mode:    fetch
-- purpose: For each variable, number of situations, and number of those that share a stage of
--          the other staging with a situation of a different stage of this one.
-- reads:   stage_pair, stage_member, staging, vertex
-- writes:  pooled_situation(variable_id, n_situations, n_pooled)
-- params:  other_staging_id INTEGER, the other staging
-- source:  Leonelli & Varando (2023), context-specific interventional discrepancy
with pooled as (
    select
        other_id,
        count(*) > 1 as is_pooled
    from temp.stage_pair
    group by other_id
)

select
    v.variable_id,
    count(*) as n_situations,
    count(*) filter (where p.is_pooled) as n_pooled
from cegdb.stage_member as m
inner join pooled as p on m.stage_id = p.other_id
inner join cegdb.staging as g on m.staging_id = g.staging_id
inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
where m.staging_id = $other_staging_id
group by v.variable_id
order by v.variable_id
