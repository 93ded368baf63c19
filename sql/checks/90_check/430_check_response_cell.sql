-- step:    check_response_cell
-- mode:    fetch
-- purpose: Levels of one survey whose count differs from that of the cells with their code, and
--          codes that belong to no level.
-- reads:   survey, variable, level, response_<survey_id>
-- writes:  check_response_cell(invariant, kind, name, row_id, detail)
-- params:  survey_id INTEGER, the survey
--          source VARCHAR, its table of coded rows, such as cegdb.response_1
-- source:  docs/architecture.md, section Tables
with coded as (
    select
        cast(columns('^v[0-9]+$') as bigint),
        n
    from query_table($source)
),

cells as (
    select
        column_name,
        code,
        sum(n) as n
    from (unpivot coded on columns('^v[0-9]+$') into name column_name value code) -- noqa: PRS
    group by column_name, code
),

levels as (
    select
        concat('v', v.ordinal) as column_name,
        l.code,
        l.n
    from cegdb.variable as v
    inner join cegdb.level as l on v.variable_id = l.variable_id
    where v.survey_id = $survey_id
)

select
    'a level has the count of its cells' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat(
        'code ', coalesce(l.code, c.code), ' of ', coalesce(l.column_name, c.column_name),
        ': ', coalesce(cast(l.n as varchar), 'no'), ' rows in the catalog, ',
        coalesce(c.n, 0), ' in the table'
    ) as detail
from levels as l
full join cells as c on l.column_name = c.column_name and l.code = c.code
inner join cegdb.survey as s on s.survey_id = $survey_id
where l.n is distinct from coalesce(c.n, 0)
order by invariant, name, row_id, detail
