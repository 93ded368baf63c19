-- step:    level_cell
-- mode:    create
-- purpose: The respondents of a survey as a flow through its variables, one after the other:
--          each respondent passes one level of each.
-- reads:   survey, variable, level
-- writes:  level_cell(cell, kind, owner_id, label_id, tail, head, n)
-- params:  survey_id INTEGER, the survey
-- source:  serves output with small counts hidden (min_n)
with asked as (
    select
        v.variable_id,
        row_number() over (order by v.ordinal) as place,
        count(*) over () as n_variables,
        s.n
    from cegdb.variable as v
    inner join cegdb.survey as s on v.survey_id = s.survey_id
    where v.survey_id = $survey_id
)

select
    cast(0 as bigint) as cell,
    'survey' as kind,
    cast($survey_id as bigint) as owner_id,
    cast(null as bigint) as label_id,
    2 * a.place - 2 as tail,
    2 * a.place - 1 as head,
    a.n
from asked as a
union all
select
    l.level_id as cell,
    'level' as kind,
    l.level_id as owner_id,
    null as label_id,
    2 * a.place - 1 as tail,
    if(a.place = a.n_variables, 0, 2 * a.place) as head,
    l.n
from asked as a
inner join cegdb.level as l on a.variable_id = l.variable_id
