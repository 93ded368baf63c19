create table cegdb.bootstrap_interval (
    staging_id integer not null,
    vertex_id bigint not null,
    label_id integer not null,
    low double not null,
    high double not null,
    level double not null,
    n_runs bigint not null check (n_runs >= 0),
    seed bigint not null
);

comment on table cegdb.bootstrap_interval is 'One row per situation and answer: percentile interval over replicates in each of which the stages were learnt again.';
comment on column cegdb.bootstrap_interval.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.bootstrap_interval.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.bootstrap_interval.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
comment on column cegdb.bootstrap_interval.low is 'Lower end of the interval.';
comment on column cegdb.bootstrap_interval.high is 'Upper end of the interval.';
comment on column cegdb.bootstrap_interval.level is 'Share of the replicates within the interval, such as 0.95.';
comment on column cegdb.bootstrap_interval.n_runs is 'Number of replicates in which respondents reached the situation.';
comment on column cegdb.bootstrap_interval.seed is 'Seed of the random numbers: the same seed and data give the same result.';
