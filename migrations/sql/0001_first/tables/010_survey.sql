create sequence cegdb.survey_id_seq;

create table cegdb.survey (
    survey_id integer default nextval('cegdb.survey_id_seq') primary key,
    name varchar not null unique,
    source varchar not null,
    n_read bigint not null check (n_read >= 0),
    n bigint not null check (n >= 0),
    n_distinct bigint not null check (n_distinct >= 0),
    settings json not null,
    summary json not null,
    seconds double not null,
    created_at timestamp not null,
    cegdb_version varchar not null,
    superseded_by integer
);

comment on table cegdb.survey is 'One row per survey, with its source and size. Its coded rows are in the table response_<survey_id>.';
comment on column cegdb.survey.survey_id is 'Key of the survey.';
comment on column cegdb.survey.name is 'Name of the survey, unique.';
comment on column cegdb.survey.source is 'Where the rows came from: file, query or data frame; later additions follow.';
comment on column cegdb.survey.n_read is 'Number of rows read.';
comment on column cegdb.survey.n is 'Number of respondents kept.';
comment on column cegdb.survey.n_distinct is 'Number of distinct rows in response_<survey_id>.';
comment on column cegdb.survey.settings is 'The settings it was made with, as JSON.';
comment on column cegdb.survey.summary is 'What its summary reports, as JSON: defaults chosen, counts, warnings.';
comment on column cegdb.survey.seconds is 'Time to read the source, in seconds.';
comment on column cegdb.survey.created_at is 'When it was read (UTC).';
comment on column cegdb.survey.cegdb_version is 'The version of cegdb that made it.';
comment on column cegdb.survey.superseded_by is 'For former rows that stale trees still show: survey_id of the survey that replaced them. Null for a current survey.';
