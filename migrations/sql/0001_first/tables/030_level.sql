create table cegdb.level (
    level_id integer primary key,
    variable_id integer not null,
    code integer not null,
    label varchar not null,
    label_id integer not null,
    original_code varchar,
    kind varchar not null check (kind in ('value', 'missing', 'structural', 'blank')),
    n bigint not null check (n >= 0),
    unique (variable_id, code)
);

comment on table cegdb.level is 'One row per level of a variable: each answer, and each kind of missing answer.';
comment on column cegdb.level.level_id is 'Key of the level; levels of a variable are numbered in level order.';
comment on column cegdb.level.variable_id is 'The variable; joins to variable.';
comment on column cegdb.level.code is 'Code of the level in the table response_<survey_id>.';
comment on column cegdb.level.label is 'Text shown for the level.';
comment on column cegdb.level.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
comment on column cegdb.level.original_code is 'The text in the source, if it is known.';
comment on column cegdb.level.kind is 'value (an answer), missing (asked, answer unknown), structural (not applicable) or blank (empty cell).';
comment on column cegdb.level.n is 'Number of respondents with this level.';
