create table cegdb.stage_drift (
    staging_id integer not null,
    former_stage varchar,
    stage_id bigint,
    variable varchar,
    n_situations bigint not null check (n_situations >= 0),
    n_before bigint not null check (n_before >= 0),
    n_after bigint not null check (n_after >= 0),
    label varchar,
    probability_before double,
    low_before double,
    high_before double,
    probability_after double,
    low_after double,
    high_after double,
    is_disjoint boolean
);

comment on table cegdb.stage_drift is 'One row per stage of a staging that was made again and each former stage of its situations: how its probabilities changed.';
comment on column cegdb.stage_drift.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.stage_drift.former_stage is 'Name of the former stage, u0, u1, ...; null if the situations are new.';
comment on column cegdb.stage_drift.stage_id is 'The present stage; null if the situations are gone.';
comment on column cegdb.stage_drift.variable is 'The variable of the stage; null if it has several.';
comment on column cegdb.stage_drift.n_situations is 'Number of situations that both stages have in common, or that are new or gone.';
comment on column cegdb.stage_drift.n_before is 'Number of respondents who reached these situations before.';
comment on column cegdb.stage_drift.n_after is 'Number of respondents who reach them now.';
comment on column cegdb.stage_drift.label is 'The answer whose probability changed most; null if the situations are new or gone.';
comment on column cegdb.stage_drift.probability_before is 'Posterior mean of that answer before.';
comment on column cegdb.stage_drift.low_before is 'Lower end of its 95 % credible interval before.';
comment on column cegdb.stage_drift.high_before is 'Upper end of its 95 % credible interval before.';
comment on column cegdb.stage_drift.probability_after is 'Posterior mean of that answer now.';
comment on column cegdb.stage_drift.low_after is 'Lower end of its 95 % credible interval now.';
comment on column cegdb.stage_drift.high_after is 'Upper end of its 95 % credible interval now.';
comment on column cegdb.stage_drift.is_disjoint is 'Whether the 95 % intervals of some answer before and now do not overlap; null if they cannot be compared.';
