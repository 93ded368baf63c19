create table cegdb.hyperstage_posterior (
    staging_id integer not null,
    hyperstage_id bigint not null,
    method varchar not null check (method in ('exact', 'sampled')),
    structure_prior varchar not null check (structure_prior in ('flat', 'size')),
    n_situations bigint not null check (n_situations >= 1),
    log_total double not null,
    log_shown double not null,
    log_best double not null,
    n_stages bigint not null check (n_stages >= 1),
    n_stages_best bigint not null check (n_stages_best >= 1),
    mean_stages double not null,
    n_chains bigint,
    n_draws bigint,
    effective_size double,
    max_difference double,
    seed bigint
);

comment on table cegdb.hyperstage_posterior is 'One row per hyperstage of a staged tree: how probable its stages are among all stagings.';
comment on column cegdb.hyperstage_posterior.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.hyperstage_posterior.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
comment on column cegdb.hyperstage_posterior.method is 'exact: from all stagings of the hyperstage; sampled: from random draws of them.';
comment on column cegdb.hyperstage_posterior.structure_prior is 'Prior of the stagings: flat (all are equally probable) or size (every number of stages is, and then every staging with that number).';
comment on column cegdb.hyperstage_posterior.n_situations is 'Number of situations whose stages are in question: without those with a single edge, without respondents, or in frozen stages.';
comment on column cegdb.hyperstage_posterior.log_total is 'Log of the sum, over all stagings of the hyperstage, of marginal likelihood times structure prior, the flat one being 1. Sampled: over the stagings drawn, and so a lower bound.';
comment on column cegdb.hyperstage_posterior.log_shown is 'Log of that product for the stages of the staging itself.';
comment on column cegdb.hyperstage_posterior.log_best is 'Log of that product for the best staging known.';
comment on column cegdb.hyperstage_posterior.n_stages is 'Number of these stages in the staging itself.';
comment on column cegdb.hyperstage_posterior.n_stages_best is 'Number of stages in the best staging known.';
comment on column cegdb.hyperstage_posterior.mean_stages is 'Expected number of stages.';
comment on column cegdb.hyperstage_posterior.n_chains is 'Number of chains of draws; null if exact.';
comment on column cegdb.hyperstage_posterior.n_draws is 'Number of draws kept of all chains; null if exact.';
comment on column cegdb.hyperstage_posterior.effective_size is 'How many independent draws they are worth, by the log posterior or the number of stages, whichever is less; null if exact.';
comment on column cegdb.hyperstage_posterior.max_difference is 'Largest difference between two chains in the probability that two situations share a stage; null if exact.';
comment on column cegdb.hyperstage_posterior.seed is 'Seed of the random numbers; null if exact.';
