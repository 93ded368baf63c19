-- step:    given_label
-- mode:    create
-- purpose: The edges whose label changes, with the new label. A label of the survey keeps its
--          id; a label that another staging of the survey introduced has the id it got there;
--          any other label takes the next free id.
-- reads:   relabel_edge, level, variable, labels
-- writes:  given_label(child_id, label_id, label)
-- params:  survey_id INTEGER, the survey
-- source:  docs/theory.md, section 5 (Equivalent labels); docs/architecture.md, section Ids
with own as (
    select
        l.label,
        min(l.label_id) as label_id
    from cegdb.level as l
    inner join cegdb.variable as v on l.variable_id = v.variable_id
    where v.survey_id = $survey_id
    group by l.label
),

shown as (
    select
        c.label_id,
        c.label
    from cegdb.labels as c
    where c.survey_id = $survey_id
),

known as (
    select
        t.label,
        coalesce(o.label_id, s.label_id) as label_id
    from (select distinct e.label from temp.relabel_edge as e) as t
    left join own as o on t.label = o.label
    left join shown as s on t.label = s.label
),

numbered as (
    select
        k.label,
        coalesce(
            k.label_id,
            (select max(s.label_id) from shown as s)
            + row_number() over (partition by k.label_id is null order by k.label)
        ) as label_id
    from known as k
)

select distinct
    e.child_id,
    cast(n.label_id as integer) as label_id,
    coalesce(s.label, n.label) as label
from temp.relabel_edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join numbered as n on e.label = n.label
left join shown as s on n.label_id = s.label_id
where n.label_id <> l.label_id
