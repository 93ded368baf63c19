create sequence cegdb.staging_id_seq;

create table cegdb.staging (
    staging_id integer default nextval('cegdb.staging_id_seq') primary key,
    name varchar not null unique,
    tree_id integer not null,
    method varchar not null,
    alpha double not null,
    n_hyperstages bigint not null check (n_hyperstages >= 0),
    n_stages bigint not null check (n_stages >= 0),
    log_marginal_likelihood double not null,
    log_likelihood double not null,
    df bigint not null check (df >= 0),
    aic double not null,
    bic double not null,
    settings json not null,
    summary json not null,
    seconds double not null,
    created_at timestamp not null,
    cegdb_version varchar not null
);

comment on table cegdb.staging is 'One row per staged tree, with its method and scores.';
comment on column cegdb.staging.staging_id is 'Key of the staged tree.';
comment on column cegdb.staging.name is 'Name of the staged tree, unique.';
comment on column cegdb.staging.tree_id is 'The event tree it colours; joins to event_tree.';
comment on column cegdb.staging.method is 'How the stages were found: given, or the name of the learning method.';
comment on column cegdb.staging.alpha is 'Prior mass at the root (equivalent sample size), above 0.';
comment on column cegdb.staging.n_hyperstages is 'Number of hyperstages.';
comment on column cegdb.staging.n_stages is 'Number of stages.';
comment on column cegdb.staging.log_marginal_likelihood is 'Log marginal likelihood (natural logarithm).';
comment on column cegdb.staging.log_likelihood is 'Log likelihood at its maximum (natural logarithm).';
comment on column cegdb.staging.df is 'Number of free parameters: labels less one, over the stages that have answers.';
comment on column cegdb.staging.aic is 'Akaike information criterion; smaller is better.';
comment on column cegdb.staging.bic is 'Bayesian information criterion; smaller is better.';
comment on column cegdb.staging.settings is 'The settings it was made with, as JSON.';
comment on column cegdb.staging.summary is 'What its summary reports, as JSON: defaults chosen, counts, warnings.';
comment on column cegdb.staging.seconds is 'Time it took to make, in seconds.';
comment on column cegdb.staging.created_at is 'When it was made (UTC).';
comment on column cegdb.staging.cegdb_version is 'The version of cegdb that made it.';
