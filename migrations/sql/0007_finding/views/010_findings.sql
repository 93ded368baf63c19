create view cegdb.findings as
with object as (
    select
        'survey' as kind,
        name,
        survey_id,
        null as tree_id,
        null as staging_id
    from cegdb.survey
    where superseded_by is null
    union all
    select
        'tree' as kind,
        name,
        survey_id,
        tree_id,
        null as staging_id
    from cegdb.event_tree
    union all
    select
        'staging' as kind,
        g.name,
        t.survey_id,
        g.tree_id,
        g.staging_id
    from cegdb.staging as g
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    union all
    select
        'ceg' as kind,
        c.name,
        t.survey_id,
        g.tree_id,
        g.staging_id
    from cegdb.ceg as c
    inner join cegdb.staging as g on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
),

found as (
    select
        o.kind,
        o.name,
        0 as distance,
        f.*,
        'staging' as from_kind,
        g.name as from_name
    from object as o
    inner join cegdb.finding as f on o.staging_id = f.staging_id
    inner join cegdb.staging as g on f.staging_id = g.staging_id
    union all
    select
        o.kind,
        o.name,
        1 as distance,
        f.*,
        'tree' as from_kind,
        t.name as from_name
    from object as o
    inner join cegdb.finding as f on o.tree_id = f.tree_id
    inner join cegdb.event_tree as t on f.tree_id = t.tree_id
    union all
    select
        o.kind,
        o.name,
        2 as distance,
        f.*,
        'survey' as from_kind,
        s.name as from_name
    from object as o
    inner join cegdb.finding as f on o.survey_id = f.survey_id
    inner join cegdb.survey as s on f.survey_id = s.survey_id
    left join cegdb.event_tree as t on o.tree_id = t.tree_id
    where
        f.variable is null
        or t.tree_id is null
        or list_contains(
            from_json(json_extract(t.settings, '$.order'), '["varchar"]'), f.variable
        )
),

every as (
    select
        kind,
        name,
        distance,
        ordinal,
        finding,
        consequence,
        variable,
        sentence,
        n,
        advice,
        from_kind,
        from_name
    from found
    union all
    select
        a.kind,
        a.name,
        -1 as distance,
        1 as ordinal,
        'stale' as finding,
        1 as consequence,
        null as variable,
        format(
            'this {} is stale: its survey has changed since, and now has {:,} respondents',
            case a.kind when 'ceg' then 'CEG' when 'tree' then 'event tree' else a.kind end,
            s.n
        ) as sentence,
        s.n,
        'rebuild it: db.rebuild(), cegdb rebuild DB' as advice,
        a.kind as from_kind,
        a.name as from_name
    from cegdb.stale as a
    inner join cegdb.survey as s on a.survey = s.name
)

select
    kind,
    name,
    row_number() over (
        partition by kind, name order by consequence, distance, ordinal, finding
    ) as place,
    finding,
    consequence,
    variable,
    sentence,
    n,
    advice,
    from_kind,
    from_name
from every;

comment on view cegdb.findings is 'One row per object and finding: what a reader should know before the numbers of a survey, tree, staging or CEG, also what was found in those it was made from.';
comment on column cegdb.findings.kind is 'Kind of the object: survey, tree, staging or ceg.';
comment on column cegdb.findings.name is 'Name of the object.';
comment on column cegdb.findings.place is 'Place among the findings of the object, from 1: most consequential first.';
comment on column cegdb.findings.finding is 'Kind of finding, such as stale, reversal, missing_data or thin_stages; note if an earlier version of cegdb wrote it.';
comment on column cegdb.findings.consequence is '1: may turn a conclusion around; 2: makes numbers uncertain or biased; 3: worth a look.';
comment on column cegdb.findings.variable is 'The variable that it is about; null if it is about several or none.';
comment on column cegdb.findings.sentence is 'What was found.';
comment on column cegdb.findings.n is 'Number of respondents that it concerns or rests on; null if it is not about respondents.';
comment on column cegdb.findings.advice is 'What to do; null in notes of earlier versions.';
comment on column cegdb.findings.from_kind is 'Kind of the object in which it was found: this one, or one it was made from.';
comment on column cegdb.findings.from_name is 'Name of the object in which it was found.';
