-- step:    check_stage_edge
-- mode:    fetch
-- purpose: Stage edges whose count or weight differs from that of the stage's situations, and
--          stages whose kind does not fit their edges.
-- reads:   staging, edge, level, relabelled_edge, stage, stage_member, stage_edge
-- writes:  check_stage_edge(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          docs/architecture.md, section Tables
with answers as (
    select
        m.staging_id,
        m.stage_id,
        coalesce(r.label_id, l.label_id) as label_id,
        sum(e.n) as n,
        sum(e.weight) as weight
    from cegdb.stage_member as m
    inner join cegdb.staging as g on m.staging_id = g.staging_id
    inner join cegdb.edge as e on g.tree_id = e.tree_id and m.vertex_id = e.parent_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on g.staging_id = r.staging_id and e.child_id = r.child_id
    group by m.staging_id, m.stage_id, coalesce(r.label_id, l.label_id)
),

florets as (
    select
        staging_id,
        stage_id,
        count(*) as n_edges,
        sum(n) as n
    from cegdb.stage_edge
    group by staging_id, stage_id
),

repeated as (
    select
        staging_id,
        stage_id,
        label_id,
        count(*) as n_rows
    from cegdb.stage_edge
    group by staging_id, stage_id, label_id
    having count(*) > 1
)

select
    'the rows of a stage are those of its situations' as invariant,
    'staging' as kind,
    g.name,
    coalesce(x.stage_id, a.stage_id) as row_id,
    concat(
        'stage ', coalesce(x.stage_id, a.stage_id), ', label ',
        coalesce(x.label_id, a.label_id), ': ',
        coalesce(cast(x.n as varchar), 'no'), ' rows, weight ',
        coalesce(cast(x.weight as varchar), 'none'), '; its situations have ',
        coalesce(cast(a.n as varchar), 'no'), ' rows, weight ',
        coalesce(cast(a.weight as varchar), 'none')
    ) as detail
from cegdb.stage_edge as x
full join answers as a
    on
        x.staging_id = a.staging_id
        and x.stage_id = a.stage_id
        and x.label_id = a.label_id
inner join cegdb.staging as g on coalesce(x.staging_id, a.staging_id) = g.staging_id
where x.n is distinct from a.n or x.weight is distinct from a.weight
union all
select
    'a stage has a label once' as invariant,
    'staging' as kind,
    g.name,
    r.stage_id as row_id,
    concat('stage ', r.stage_id, ' has label ', r.label_id, ' in ', r.n_rows, ' rows') as detail
from repeated as r
inner join cegdb.staging as g on r.staging_id = g.staging_id
union all
select
    'the kind of a stage fits its edges' as invariant,
    'staging' as kind,
    g.name,
    s.stage_id as row_id,
    concat(
        'stage ', s.stage_id, ', of kind ', s.kind, ', has ', f.n_edges, ' edges taken by ',
        f.n, ' rows'
    ) as detail
from cegdb.stage as s
inner join florets as f on s.staging_id = f.staging_id and s.stage_id = f.stage_id
inner join cegdb.staging as g on s.staging_id = g.staging_id
where
    (s.kind = 'single_edge' and f.n_edges <> 1)
    or (s.kind = 'unobserved' and (f.n <> 0 or f.n_edges = 1))
order by invariant, name, row_id, detail
