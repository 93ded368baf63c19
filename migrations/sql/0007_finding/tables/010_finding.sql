create table cegdb.finding (
    survey_id integer,
    tree_id integer,
    staging_id integer,
    ordinal integer not null,
    finding varchar not null,
    consequence integer not null check (consequence between 1 and 3),
    variable varchar,
    sentence varchar not null,
    n bigint check (n >= 0),
    advice varchar,
    check (
        if(survey_id is null, 0, 1) + if(tree_id is null, 0, 1) + if(staging_id is null, 0, 1) = 1
    )
);

comment on table cegdb.finding is 'One row per finding: what a reader should know before the numbers of a survey, tree or staging.';
comment on column cegdb.finding.survey_id is 'The survey that it is about; joins to survey. Null if it is about a tree or staging.';
comment on column cegdb.finding.tree_id is 'The tree that it is about; joins to event_tree. Null if it is about a survey or staging.';
comment on column cegdb.finding.staging_id is 'The staging that it is about; joins to staging. Null if it is about a survey or tree.';
comment on column cegdb.finding.ordinal is 'Place among the findings of its object, from 1.';
comment on column cegdb.finding.finding is 'Kind of finding, such as reversal, missing_data or thin_stages; note if an earlier version of cegdb wrote it.';
comment on column cegdb.finding.consequence is '1: may turn a conclusion around; 2: makes numbers uncertain or biased; 3: worth a look.';
comment on column cegdb.finding.variable is 'The variable that it is about; null if it is about several or none.';
comment on column cegdb.finding.sentence is 'What was found.';
comment on column cegdb.finding.n is 'Number of respondents that it concerns or rests on; null if it is not about respondents.';
comment on column cegdb.finding.advice is 'What to do; null in notes of earlier versions.';
