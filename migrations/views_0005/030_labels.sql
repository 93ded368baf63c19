-- One row a label of a survey: the same text has the same id in all its variables, and in the
-- stagings that give it to edges (relabel). Texts that a codebook declares the same share one
-- id, and are shown by the first of them.
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
