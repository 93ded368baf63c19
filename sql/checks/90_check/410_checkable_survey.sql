-- step:    checkable_survey
-- mode:    fetch
-- purpose: Surveys whose table of coded rows can be checked. For the others, see
--          check_response_table.
-- reads:   survey, duckdb_columns()
-- writes:  checkable_survey(survey_id)
-- params:  none
-- source:  docs/architecture.md, section Tables
select s.survey_id
from cegdb.survey as s
inner join duckdb_columns() as c on concat('response_', s.survey_id) = c.table_name
where c.database_name = current_database() and c.schema_name = 'cegdb'
group by s.survey_id
having bool_or(c.column_name = 'n') and bool_or(c.column_name = 'v1')
order by s.survey_id
