-- step:    check_ceg_stage
-- mode:    fetch
-- purpose: Stages of CEGs given evidence whose sizes or variable differ from those of their
--          situations, or whose positions have different probabilities; and such stages in
--          other CEGs.
-- reads:   staging, ceg, vertex, position, position_member, ceg_edge, ceg_stage
-- writes:  check_ceg_stage(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation), conditioning breaks stages;
--          docs/architecture.md, section Invariants, no. 2
with sizes as (
    select
        p.ceg_id,
        p.stage_id,
        count(*) as n_positions,
        sum(p.n_situations) as n_situations,
        sum(p.n) as n
    from cegdb.position as p
    inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
    where c.staging_id is null and p.stage_id is not null
    group by p.ceg_id, p.stage_id
),

joined as (
    select
        coalesce(s.ceg_id, z.ceg_id) as ceg_id,
        coalesce(s.stage_id, z.stage_id) as stage_id,
        coalesce(s.n_situations, 0) as stored_situations,
        coalesce(s.n, 0) as stored_n,
        coalesce(z.n_situations, 0) as n_situations,
        coalesce(z.n, 0) as n
    from cegdb.ceg_stage as s
    full join sizes as z on s.ceg_id = z.ceg_id and s.stage_id = z.stage_id
),

ceg_stage_variable as (
    select
        p.ceg_id,
        p.stage_id,
        if(min(v.variable_id) = max(v.variable_id), min(v.variable_id), null) as variable_id
    from cegdb.position as p
    inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
    inner join cegdb.staging as g on c.root_staging_id = g.staging_id
    inner join cegdb.position_member as m
        on p.ceg_id = m.ceg_id and p.position_id = m.position_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    where c.staging_id is null and p.stage_id is not null
    group by p.ceg_id, p.stage_id
),

answers as (
    select
        p.ceg_id,
        p.stage_id,
        e.label_id,
        count(*) as n_edges,
        min(e.probability) as least,
        max(e.probability) as most
    from cegdb.position as p
    inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
    inner join cegdb.ceg_edge as e on p.ceg_id = e.ceg_id and p.position_id = e.source_id
    where c.staging_id is null
    group by p.ceg_id, p.stage_id, e.label_id
)

select
    'the sizes of a stage are those of its positions' as invariant,
    'ceg' as kind,
    c.name,
    j.stage_id as row_id,
    concat(
        'stage ', j.stage_id, ' has ', j.stored_situations, ' situations of ', j.stored_n,
        ' rows; its positions have ', j.n_situations, ' of ', j.n
    ) as detail
from joined as j
inner join cegdb.ceg as c on j.ceg_id = c.ceg_id
where j.stored_situations <> j.n_situations or j.stored_n <> j.n
union all
select
    'a stage has the variable of its situations' as invariant,
    'ceg' as kind,
    c.name,
    s.stage_id as row_id,
    concat(
        'stage ', s.stage_id, ' has variable ', coalesce(cast(s.variable_id as varchar), 'none'),
        ', its situations ', coalesce(cast(a.variable_id as varchar), 'several')
    ) as detail
from cegdb.ceg_stage as s
inner join ceg_stage_variable as a on s.ceg_id = a.ceg_id and s.stage_id = a.stage_id
inner join cegdb.ceg as c on s.ceg_id = c.ceg_id
where s.variable_id is distinct from a.variable_id
union all
select
    'a stage has one vector of probabilities' as invariant,
    'ceg' as kind,
    c.name,
    a.stage_id as row_id,
    concat(
        'label ', a.label_id, ' of stage ', a.stage_id, ': ', a.n_edges, ' edges of ',
        z.n_positions, ' positions, probabilities ', a.least, ' to ', a.most
    ) as detail
from answers as a
inner join sizes as z on a.ceg_id = z.ceg_id and a.stage_id = z.stage_id
inner join cegdb.ceg as c on a.ceg_id = c.ceg_id
where a.n_edges <> z.n_positions or a.least <> a.most
order by invariant, name, row_id, detail
