create view cegdb.labels as
with own as (
    select
        v.survey_id,
        l.label_id,
        min_by(l.label, l.level_id) as label
    from cegdb.level as l
    inner join cegdb.variable as v on l.variable_id = v.variable_id
    group by v.survey_id, l.label_id
),

given as (
    select distinct
        t.survey_id,
        r.label_id,
        r.label
    from cegdb.relabelled_edge as r
    inner join cegdb.staging as g on r.staging_id = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
),

known as (
    select
        survey_id,
        label_id,
        label
    from own
    union all
    select
        g.survey_id,
        g.label_id,
        g.label
    from given as g
    left join own as o on g.survey_id = o.survey_id and g.label_id = o.label_id
    where o.label_id is null
)

select
    s.name as survey,
    k.survey_id,
    k.label_id,
    k.label
from known as k
inner join cegdb.survey as s on k.survey_id = s.survey_id;

comment on view cegdb.labels is 'One row per label of a survey, in all its variables and in stagings that relabel answers. Texts that a codebook declares to be the same share one row.';
comment on column cegdb.labels.survey is 'Name of the survey.';
comment on column cegdb.labels.survey_id is 'The survey; joins to survey.';
comment on column cegdb.labels.label_id is 'Id of the label, the same in all variables of the survey.';
comment on column cegdb.labels.label is 'The text of the label; of several declared the same, the first.';
