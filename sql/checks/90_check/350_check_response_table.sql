-- step:    check_response_table
-- mode:    fetch
-- purpose: Surveys whose table of coded rows is missing or has columns other than v1, v2, ...
--          (one per variable), n, weight and weight_sq; and such tables without a survey.
--          Superseded rows have no table.
-- reads:   survey, variable, duckdb_columns()
-- writes:  check_response_table(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Tables
with current as (
    select
        survey_id,
        name
    from cegdb.survey
    where superseded_by is null
),

expected as (
    select
        v.survey_id,
        concat('v', v.ordinal) as column_name
    from cegdb.variable as v
    inner join current as s on v.survey_id = s.survey_id
    union all
    select
        survey_id,
        unnest(['n', 'weight', 'weight_sq']) as column_name
    from current
),

columns as (
    select
        table_name,
        column_name
    from duckdb_columns()
    where
        database_name = current_database()
        and schema_name = 'cegdb'
        and starts_with(table_name, 'response_')
),

tables as (
    select distinct table_name
    from columns
),

matched as (
    select
        coalesce(c.table_name, concat('response_', x.survey_id)) as table_name,
        x.column_name as expected_column,
        c.column_name as found_column
    from expected as x
    full join columns as c
        on
            concat('response_', x.survey_id) = c.table_name
            and x.column_name = c.column_name
    where x.column_name is null or c.column_name is null
)

select
    'a survey has its table of rows' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat('there is no table response_', s.survey_id) as detail
from current as s
left join tables as t on concat('response_', s.survey_id) = t.table_name
where t.table_name is null
union all
select
    'a table of rows has its survey' as invariant,
    'survey' as kind,
    cast(null as varchar) as name,
    cast(null as bigint) as row_id,
    concat('the survey of table ', t.table_name, ' is gone') as detail
from tables as t
left join current as s on t.table_name = concat('response_', s.survey_id)
where s.survey_id is null
union all
select
    'a table of rows has a column for each variable' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat(
        'table ', t.table_name, if(m.found_column is null, ' lacks', ' has'), ' the column ',
        coalesce(m.found_column, m.expected_column)
    ) as detail
from current as s
inner join tables as t on concat('response_', s.survey_id) = t.table_name
inner join matched as m on t.table_name = m.table_name
order by invariant, name, row_id, detail
