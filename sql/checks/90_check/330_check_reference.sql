-- step:    check_reference
-- mode:    fetch
-- purpose: Variables, levels and labels in trees, stagings and CEGs that do not belong to the
--          survey they were made from.
-- reads:   variable, level, labels, event_tree, staging, ceg, vertex, edge, hyperstage,
--          stage_edge, ceg_edge, ceg_stage
-- writes:  check_reference(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Tables: references are checked, not declared
with used as (
    select
        t.name,
        t.survey_id,
        'tree' as kind,
        'variable' as what,
        v.variable_id as id
    from cegdb.vertex as v
    inner join cegdb.event_tree as t on v.tree_id = t.tree_id
    where v.variable_id is not null
    union all
    select
        t.name,
        t.survey_id,
        'tree' as kind,
        'level' as what,
        e.level_id as id
    from cegdb.edge as e
    inner join cegdb.event_tree as t on e.tree_id = t.tree_id
    union all
    select
        g.name,
        t.survey_id,
        'staging' as kind,
        'variable' as what,
        h.variable_id as id
    from cegdb.hyperstage as h
    inner join cegdb.staging as g on h.staging_id = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    where h.variable_id is not null
    union all
    select
        g.name,
        t.survey_id,
        'staging' as kind,
        'label' as what,
        x.label_id as id
    from cegdb.stage_edge as x
    inner join cegdb.staging as g on x.staging_id = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    union all
    select
        c.name,
        t.survey_id,
        'ceg' as kind,
        'label' as what,
        x.label_id as id
    from cegdb.ceg_edge as x
    inner join cegdb.ceg as c on x.ceg_id = c.ceg_id
    inner join cegdb.staging as g
        on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    union all
    select
        c.name,
        t.survey_id,
        'ceg' as kind,
        'variable' as what,
        s.variable_id as id
    from cegdb.ceg_stage as s
    inner join cegdb.ceg as c on s.ceg_id = c.ceg_id
    inner join cegdb.staging as g
        on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    where s.variable_id is not null
),

counted as (
    select
        name,
        survey_id,
        kind,
        what,
        id,
        count(*) as n_rows
    from used
    group by name, survey_id, kind, what, id
),

known as (
    select
        survey_id,
        'variable' as what,
        variable_id as id
    from cegdb.variable
    union all
    select
        v.survey_id,
        'level' as what,
        l.level_id as id
    from cegdb.level as l
    inner join cegdb.variable as v on l.variable_id = v.variable_id
    union all
    select distinct
        survey_id,
        'label' as what,
        label_id as id
    from cegdb.labels
)

select
    'variables, levels and labels are those of the survey' as invariant,
    c.kind,
    c.name,
    cast(c.id as bigint) as row_id,
    concat(c.n_rows, ' rows have the ', c.what, ' ', c.id, ', not of survey ', c.survey_id)
        as detail
from counted as c
left join known as k
    on c.survey_id = k.survey_id and c.what = k.what and c.id = k.id
where k.id is null
order by invariant, c.kind, c.name, row_id
