-- step:    check_level
-- mode:    fetch
-- purpose: Surveys whose variables, levels and labels are not numbered as their coded rows
--          require, whose levels do not add up to the respondents, or whose scores are not
--          those of all answers of ordered variables.
-- reads:   survey, variable, level, level_score
-- writes:  check_level(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Tables
with levels as (
    select
        s.name,
        s.survey_id,
        s.n as n_rows,
        v.variable_id,
        l.level_id,
        l.code,
        l.label,
        l.label_id,
        l.kind,
        l.n
    from cegdb.survey as s
    inner join cegdb.variable as v on s.survey_id = v.survey_id
    left join cegdb.level as l on v.variable_id = l.variable_id
),

ordinals as (
    select
        survey_id,
        count(*) as n_variables,
        min(ordinal) as first_ordinal,
        max(ordinal) as last_ordinal
    from cegdb.variable
    group by survey_id
),

labels as (
    select
        name,
        survey_id,
        label,
        min(label_id) as first_id,
        max(label_id) as last_id
    from levels
    group by name, survey_id, label
),

variables as (
    select
        name,
        variable_id,
        n_rows,
        count(level_id) as n_levels,
        coalesce(min(code), 0) as first_code,
        coalesce(max(code), 0) as last_code,
        min(level_id - code) as least_offset,
        max(level_id - code) as most_offset,
        count(*) filter (where kind = 'blank') as n_blank,
        count(*) filter (where kind = 'structural') as n_structural,
        coalesce(sum(n), 0) as n_cells
    from levels
    group by name, variable_id, n_rows
),

scores as (
    select
        r.name,
        r.variable_id,
        count(*) filter (where r.kind = 'value') as n_answers,
        count(x.score) filter (where r.kind = 'value') as n_scored,
        count(x.score) filter (where r.kind <> 'value') as n_other_scored
    from levels as r
    left join cegdb.level_score as x on r.level_id = x.level_id
    group by r.name, r.variable_id
)

select
    'variables are numbered from 1 without gaps' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat(
        o.n_variables, ' variables have the ordinals ', o.first_ordinal, ' to ',
        o.last_ordinal
    ) as detail
from ordinals as o
inner join cegdb.survey as s on o.survey_id = s.survey_id
where o.first_ordinal <> 1 or o.last_ordinal <> o.n_variables
union all
select
    'the same text has the same label id' as invariant,
    'survey' as kind,
    name,
    cast(first_id as bigint) as row_id,
    concat('label ', label, ' has the ids ', first_id, ' to ', last_id) as detail
from labels
where first_id <> last_id
union all
select
    'a label id stands for one text, or several that are declared the same' as invariant,
    'survey' as kind,
    name,
    cast(first_id as bigint) as row_id,
    concat('label id ', first_id, ' stands for ', min(label), ' and ', max(label)) as detail
from labels
where
    survey_id not in (
        select s.survey_id
        from cegdb.survey as s
        where json_array_length(s.settings, '$.same') > 0
    )
group by name, survey_id, first_id
having count(*) > 1
union all
select
    'codes and ids of levels run side by side from 1' as invariant,
    'survey' as kind,
    name,
    cast(variable_id as bigint) as row_id,
    concat(
        n_levels, ' levels of variable ', variable_id, ' have codes ', first_code, ' to ',
        last_code, if(least_offset = most_offset, '', ', in another order than their ids')
    ) as detail
from variables
where first_code <> 1 or last_code <> n_levels or least_offset <> most_offset
union all
select
    'a variable has one level blank and one structural' as invariant,
    'survey' as kind,
    name,
    cast(variable_id as bigint) as row_id,
    concat(
        'variable ', variable_id, ' has ', n_blank, ' blank and ', n_structural,
        ' structural levels'
    ) as detail
from variables
where n_blank <> 1 or n_structural <> 1
union all
select
    'each respondent has one cell of a variable' as invariant,
    'survey' as kind,
    name,
    cast(variable_id as bigint) as row_id,
    concat(n_cells, ' cells of variable ', variable_id, ', ', n_rows, ' respondents') as detail
from variables
where n_cells <> n_rows
union all
select
    'each answer of an ordered variable has a score, and nothing else has one' as invariant,
    'survey' as kind,
    name,
    cast(variable_id as bigint) as row_id,
    concat(
        n_scored, ' of ', n_answers, ' answers of variable ', variable_id, ' and ',
        n_other_scored, ' other levels have a score'
    ) as detail
from scores
where n_other_scored > 0 or n_scored not in (0, n_answers)
union all
select
    'each answer of an ordered variable has a score, and nothing else has one' as invariant,
    'survey' as kind,
    cast(null as varchar) as name,
    cast(x.level_id as bigint) as row_id,
    concat('there is no level ', x.level_id) as detail
from cegdb.level_score as x
where x.level_id not in (select l.level_id from cegdb.level as l)
order by invariant, name, row_id, detail
