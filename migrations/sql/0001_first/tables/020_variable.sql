create table cegdb.variable (
    variable_id integer primary key,
    survey_id integer not null,
    ordinal integer not null,
    name varchar not null,
    question varchar,
    unique (survey_id, name),
    unique (survey_id, ordinal)
);

comment on table cegdb.variable is 'One row per variable (column) of a survey.';
comment on column cegdb.variable.variable_id is 'Key of the variable.';
comment on column cegdb.variable.survey_id is 'The survey; joins to survey.';
comment on column cegdb.variable.ordinal is 'Place of the variable in the survey, from 1 on; its codes are in column v<ordinal> of response_<survey_id>.';
comment on column cegdb.variable.name is 'Name of the column in the source.';
comment on column cegdb.variable.question is 'The question in words, from a codebook or a labelled file; null if unknown.';
