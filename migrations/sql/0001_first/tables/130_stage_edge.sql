create table cegdb.stage_edge (
    staging_id integer not null,
    stage_id bigint not null,
    label_id integer not null,
    prior double not null,
    n bigint not null check (n >= 0),
    weight decimal(38, 12),
    share double,
    probability double not null,
    low double,
    high double
);

comment on table cegdb.stage_edge is 'One row per stage and answer, with its probability.';
comment on column cegdb.stage_edge.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.stage_edge.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.stage_edge.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
comment on column cegdb.stage_edge.prior is 'Prior mass of the answer (parameter of the Dirichlet distribution), above 0.';
comment on column cegdb.stage_edge.n is 'Number of respondents who gave the answer in any situation of the stage.';
comment on column cegdb.stage_edge.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.stage_edge.share is 'Observed share of the answer, from 0 to 1: n / total, or weight / total weight; null if nobody answered.';
comment on column cegdb.stage_edge.probability is 'Posterior mean of the answer''s probability in the stage, from 0 to 1.';
comment on column cegdb.stage_edge.low is 'Lower end of the 95 % credible interval, given the staging; null for a single edge.';
comment on column cegdb.stage_edge.high is 'Upper end of the 95 % credible interval, given the staging; null for a single edge.';
