-- step:    check_stage_member
-- mode:    fetch
-- purpose: Situations with no stage or several, and members of stages that are not situations
--          of the tree.
-- reads:   staging, vertex, stage_member
-- writes:  check_stage_member(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          docs/architecture.md, section Invariants, no. 2
with counted as (
    select
        staging_id,
        vertex_id,
        count(*) as n_stages
    from cegdb.stage_member
    group by staging_id, vertex_id
)

select
    'a situation has exactly one stage' as invariant,
    'staging' as kind,
    g.name,
    v.vertex_id as row_id,
    concat('situation ', v.vertex_id, ' has ', coalesce(c.n_stages, 0), ' stages') as detail
from cegdb.staging as g
inner join cegdb.vertex as v on g.tree_id = v.tree_id
left join counted as c on g.staging_id = c.staging_id and v.vertex_id = c.vertex_id
where v.variable_id is not null and coalesce(c.n_stages, 0) <> 1
union all
select
    'only situations have stages' as invariant,
    'staging' as kind,
    g.name,
    m.vertex_id as row_id,
    concat(
        'vertex ', m.vertex_id, ', which is ',
        if(v.vertex_id is null, 'not in the tree', 'a leaf'), ', has the stage ', m.stage_id
    ) as detail
from cegdb.stage_member as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
left join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
where v.variable_id is null
order by invariant, name, row_id, detail
