-- step:    check_hyperstage
-- mode:    fetch
-- purpose: Hyperstages whose id is not that of their smallest situation, or whose size or
--          variable differs from that of their situations; and stages that belong to no
--          hyperstage.
-- reads:   staging, vertex, hyperstage, stage, stage_member
-- writes:  check_hyperstage(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data);
--          docs/architecture.md, section Invariants, no. 2
with members as (
    select
        s.staging_id,
        s.hyperstage_id,
        min(m.vertex_id) as smallest_id,
        count(*) as n_situations,
        if(min(v.variable_id) = max(v.variable_id), min(v.variable_id), null) as variable_id
    from cegdb.stage as s
    inner join cegdb.staging as g on s.staging_id = g.staging_id
    inner join cegdb.stage_member as m
        on s.staging_id = m.staging_id and s.stage_id = m.stage_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    group by s.staging_id, s.hyperstage_id
),

joined as (
    select
        coalesce(h.staging_id, m.staging_id) as staging_id,
        coalesce(h.hyperstage_id, m.hyperstage_id) as hyperstage_id,
        h.n_situations as stored_situations,
        h.variable_id as stored_variable_id,
        coalesce(m.n_situations, 0) as n_situations,
        m.variable_id,
        m.smallest_id
    from cegdb.hyperstage as h
    full join members as m
        on h.staging_id = m.staging_id and h.hyperstage_id = m.hyperstage_id
)

select
    'a hyperstage is named by its smallest situation' as invariant,
    'staging' as kind,
    g.name,
    j.hyperstage_id as row_id,
    concat(
        'the smallest situation of hyperstage ', j.hyperstage_id, ' is ', j.smallest_id
    ) as detail
from joined as j
inner join cegdb.staging as g on j.staging_id = g.staging_id
where j.hyperstage_id <> j.smallest_id
union all
select
    'the size of a hyperstage is that of its stages' as invariant,
    'staging' as kind,
    g.name,
    j.hyperstage_id as row_id,
    concat(
        'hyperstage ', j.hyperstage_id, ' has ', coalesce(j.stored_situations, 0),
        ' situations, its stages have ', j.n_situations
    ) as detail
from joined as j
inner join cegdb.staging as g on j.staging_id = g.staging_id
where j.stored_situations is distinct from j.n_situations or j.n_situations = 0
union all
select
    'the variable of a hyperstage is that of its situations' as invariant,
    'staging' as kind,
    g.name,
    j.hyperstage_id as row_id,
    concat(
        'hyperstage ', j.hyperstage_id, ' has variable ',
        coalesce(cast(j.stored_variable_id as varchar), 'none'), ', its situations ',
        coalesce(cast(j.variable_id as varchar), 'several')
    ) as detail
from joined as j
inner join cegdb.staging as g on j.staging_id = g.staging_id
where j.stored_variable_id is distinct from j.variable_id
order by invariant, name, row_id, detail
