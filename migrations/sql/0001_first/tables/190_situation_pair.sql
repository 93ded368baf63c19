create table cegdb.situation_pair (
    staging_id integer not null,
    kind varchar not null check (kind in ('nonparametric', 'parametric')),
    vertex_id bigint not null,
    other_id bigint not null,
    is_together boolean not null,
    n_runs bigint not null check (n_runs >= 0),
    n_together bigint not null check (n_together >= 0)
);

comment on table cegdb.situation_pair is 'One row per pair of situations of a hyperstage and kind of bootstrap: how often both were in one stage.';
comment on column cegdb.situation_pair.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.situation_pair.kind is 'nonparametric: respondents were drawn again; parametric: they were simulated from the stages.';
comment on column cegdb.situation_pair.vertex_id is 'vertex_id of the first situation of the pair.';
comment on column cegdb.situation_pair.other_id is 'vertex_id of the second situation of the pair.';
comment on column cegdb.situation_pair.is_together is 'Whether the staging itself puts both in one stage.';
comment on column cegdb.situation_pair.n_runs is 'Number of replicates in which respondents reached both situations.';
comment on column cegdb.situation_pair.n_together is 'Number of those replicates that put both in one stage.';
