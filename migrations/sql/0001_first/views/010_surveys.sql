create view cegdb.surveys as
select
    s.name as survey,
    s.survey_id,
    s.source,
    s.n_read,
    s.n,
    s.n_distinct,
    (select count(*) from cegdb.variable as v where v.survey_id = s.survey_id) as n_variables,
    s.created_at,
    s.cegdb_version
from cegdb.survey as s
where s.superseded_by is null;

comment on view cegdb.surveys is 'One row per survey: where its rows came from and how many there are. Former rows kept for stale trees are not listed.';
comment on column cegdb.surveys.survey is 'Name of the survey.';
comment on column cegdb.surveys.survey_id is 'The survey; joins to survey.';
comment on column cegdb.surveys.source is 'Where the rows came from: file, query or data frame; later additions follow.';
comment on column cegdb.surveys.n_read is 'Number of rows read.';
comment on column cegdb.surveys.n is 'Number of respondents kept.';
comment on column cegdb.surveys.n_distinct is 'Number of distinct rows in the table response_<survey_id>.';
comment on column cegdb.surveys.n_variables is 'Number of variables.';
comment on column cegdb.surveys.created_at is 'When it was read (UTC).';
comment on column cegdb.surveys.cegdb_version is 'The version of cegdb that made it.';
