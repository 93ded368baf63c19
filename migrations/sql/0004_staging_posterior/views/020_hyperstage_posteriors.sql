create view cegdb.hyperstage_posteriors as
select
    g.name as staging,
    v.name as variable,
    p.n_situations,
    p.n_stages,
    p.n_stages_best,
    p.mean_stages,
    least(exp(p.log_shown - p.log_total), 1) as probability,
    greatest(p.log_best - p.log_shown, 0) as log_gain,
    p.log_total,
    p.log_shown,
    p.log_best,
    p.method,
    p.structure_prior,
    p.n_chains,
    p.n_draws,
    p.effective_size,
    p.max_difference,
    p.seed,
    p.hyperstage_id
from cegdb.hyperstage_posterior as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
inner join cegdb.hyperstage as h
    on p.staging_id = h.staging_id and p.hyperstage_id = h.hyperstage_id
left join cegdb.variable as v on h.variable_id = v.variable_id;

comment on view cegdb.hyperstage_posteriors is 'One row per hyperstage of a staged tree: how probable its stages are among all stagings.';
comment on column cegdb.hyperstage_posteriors.staging is 'Name of the staged tree.';
comment on column cegdb.hyperstage_posteriors.variable is 'The variable of the hyperstage; null if it has several.';
comment on column cegdb.hyperstage_posteriors.n_situations is 'Number of situations whose stages are in question: without those with a single edge, without respondents, or in frozen stages.';
comment on column cegdb.hyperstage_posteriors.n_stages is 'Number of these stages in the staging itself.';
comment on column cegdb.hyperstage_posteriors.n_stages_best is 'Number of stages in the best staging known.';
comment on column cegdb.hyperstage_posteriors.mean_stages is 'Expected number of stages.';
comment on column cegdb.hyperstage_posteriors.probability is 'Posterior probability of the stages of the staging itself, from 0 to 1. Sampled: an upper bound.';
comment on column cegdb.hyperstage_posteriors.log_gain is 'By how much the best staging known has a larger log posterior than the staging itself; 0 if none is better.';
comment on column cegdb.hyperstage_posteriors.log_total is 'Log of the sum, over all stagings of the hyperstage, of marginal likelihood times structure prior, the flat one being 1. Sampled: over the stagings drawn, and so a lower bound.';
comment on column cegdb.hyperstage_posteriors.log_shown is 'Log of that product for the stages of the staging itself.';
comment on column cegdb.hyperstage_posteriors.log_best is 'Log of that product for the best staging known.';
comment on column cegdb.hyperstage_posteriors.method is 'exact: from all stagings of the hyperstage; sampled: from random draws of them.';
comment on column cegdb.hyperstage_posteriors.structure_prior is 'Prior of the stagings: flat (all are equally probable) or size (every number of stages is, and then every staging with that number).';
comment on column cegdb.hyperstage_posteriors.n_chains is 'Number of chains of draws; null if exact.';
comment on column cegdb.hyperstage_posteriors.n_draws is 'Number of draws kept of all chains; null if exact.';
comment on column cegdb.hyperstage_posteriors.effective_size is 'How many independent draws they are worth, by the log posterior or the number of stages, whichever is less; null if exact.';
comment on column cegdb.hyperstage_posteriors.max_difference is 'Largest difference between two chains in the probability that two situations share a stage; null if exact.';
comment on column cegdb.hyperstage_posteriors.seed is 'Seed of the random numbers; null if exact.';
comment on column cegdb.hyperstage_posteriors.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
