create table cegdb.stage_bootstrap (
    staging_id integer not null,
    kind varchar not null check (kind in ('nonparametric', 'parametric')),
    n_runs bigint not null check (n_runs >= 0),
    seed bigint not null,
    n_situations bigint not null check (n_situations >= 0),
    n_pairs bigint not null check (n_pairs >= 0),
    mean_stages double not null,
    min_stages bigint not null check (min_stages >= 0),
    max_stages bigint not null check (max_stages >= 0),
    seconds double not null
);

comment on table cegdb.stage_bootstrap is 'One row per bootstrap of a staged tree: stages learnt again from replicates of the data.';
comment on column cegdb.stage_bootstrap.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.stage_bootstrap.kind is 'nonparametric: respondents were drawn again; parametric: they were simulated from the stages.';
comment on column cegdb.stage_bootstrap.n_runs is 'Number of bootstrap replicates.';
comment on column cegdb.stage_bootstrap.seed is 'Seed of the random numbers: the same seed and data give the same result.';
comment on column cegdb.stage_bootstrap.n_situations is 'Number of situations whose stages were learnt.';
comment on column cegdb.stage_bootstrap.n_pairs is 'Number of pairs of situations that were allowed to share a stage.';
comment on column cegdb.stage_bootstrap.mean_stages is 'Mean number of stages learnt.';
comment on column cegdb.stage_bootstrap.min_stages is 'Smallest number of stages learnt.';
comment on column cegdb.stage_bootstrap.max_stages is 'Largest number of stages learnt.';
comment on column cegdb.stage_bootstrap.seconds is 'Time the bootstrap took, in seconds.';
