-- step:    check_response_row
-- mode:    fetch
-- purpose: Whether the coded rows of one survey are distinct, each stand for at least one
--          respondent, and are as many as the catalog says.
-- reads:   survey, response_<survey_id>
-- writes:  check_response_row(invariant, kind, name, row_id, detail)
-- params:  survey_id INTEGER, the survey
--          source VARCHAR, its table of coded rows, such as cegdb.response_1
-- source:  docs/architecture.md, section Tables
with grouped as (
    select
        columns('^v[0-9]+$'),
        count(*) as n_rows,
        sum(n) as n,
        min(coalesce(n, 0)) as least_n
    from query_table($source)
    group by all
),

total as (
    select
        coalesce(sum(n_rows), 0) as n_rows,
        count(*) as n_distinct,
        coalesce(sum(n), 0) as n,
        min(least_n) as least_n
    from grouped
)

select
    'the rows of a survey are distinct' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat(t.n_rows, ' rows, ', t.n_distinct, ' distinct') as detail
from total as t
inner join cegdb.survey as s on s.survey_id = $survey_id
where t.n_rows <> t.n_distinct
union all
select
    'a row of a survey stands for at least one respondent' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat('some row stands for ', t.least_n, ' respondents') as detail
from total as t
inner join cegdb.survey as s on s.survey_id = $survey_id
where t.least_n < 1
union all
select
    'the catalog has the size of a survey' as invariant,
    'survey' as kind,
    s.name,
    cast(null as bigint) as row_id,
    concat(
        'the catalog says ', s.n, ' respondents in ', s.n_distinct, ' rows; the table has ',
        t.n, ' in ', t.n_rows
    ) as detail
from total as t
inner join cegdb.survey as s on s.survey_id = $survey_id
where t.n <> s.n or t.n_rows <> s.n_distinct
order by invariant, name, row_id, detail
