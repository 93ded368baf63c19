-- step:    check_stage
-- mode:    fetch
-- purpose: Stages whose id is not that of their smallest situation, or whose sizes differ from
--          those of their situations.
-- reads:   staging, vertex, stage, stage_member
-- writes:  check_stage(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Ids
with members as (
    select
        m.staging_id,
        m.stage_id,
        min(m.vertex_id) as smallest_id,
        count(*) as n_situations,
        sum(v.n) as n
    from cegdb.stage_member as m
    inner join cegdb.staging as g on m.staging_id = g.staging_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    group by m.staging_id, m.stage_id
),

joined as (
    select
        coalesce(s.staging_id, m.staging_id) as staging_id,
        coalesce(s.stage_id, m.stage_id) as stage_id,
        s.n_situations as stored_situations,
        s.n as stored_n,
        coalesce(m.n_situations, 0) as n_situations,
        coalesce(m.n, 0) as n,
        m.smallest_id
    from cegdb.stage as s
    full join members as m on s.staging_id = m.staging_id and s.stage_id = m.stage_id
),

repeated as (
    select
        staging_id,
        stage_id,
        count(*) as n_rows
    from cegdb.stage
    group by staging_id, stage_id
    having count(*) > 1
)

select
    'a stage is named by its smallest situation' as invariant,
    'staging' as kind,
    g.name,
    j.stage_id as row_id,
    concat('the smallest situation of stage ', j.stage_id, ' is ', j.smallest_id) as detail
from joined as j
inner join cegdb.staging as g on j.staging_id = g.staging_id
where j.stage_id <> j.smallest_id
union all
select
    'the sizes of a stage are those of its situations' as invariant,
    'staging' as kind,
    g.name,
    j.stage_id as row_id,
    concat(
        'stage ', j.stage_id, ' has ', coalesce(j.stored_situations, 0), ' situations of ',
        coalesce(j.stored_n, 0), ' rows; they are ', j.n_situations, ' of ', j.n
    ) as detail
from joined as j
inner join cegdb.staging as g on j.staging_id = g.staging_id
where
    j.stored_situations is distinct from j.n_situations
    or j.stored_n is distinct from j.n
    or j.n_situations = 0
union all
select
    'a stage has one row' as invariant,
    'staging' as kind,
    g.name,
    r.stage_id as row_id,
    concat('stage ', r.stage_id, ' has ', r.n_rows, ' rows') as detail
from repeated as r
inner join cegdb.staging as g on r.staging_id = g.staging_id
order by invariant, name, row_id, detail
