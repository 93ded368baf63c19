create table cegdb.costaging (
    staging_id integer not null,
    vertex_id bigint not null,
    other_id bigint not null,
    probability double not null check (probability >= 0 and probability <= 1),
    std_error double check (std_error >= 0),
    method varchar not null check (method in ('exact', 'sampled'))
);

comment on table cegdb.costaging is 'One row per pair of situations of a hyperstage: how probable it is that both share a stage.';
comment on column cegdb.costaging.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.costaging.vertex_id is 'vertex_id of the first situation of the pair.';
comment on column cegdb.costaging.other_id is 'vertex_id of the second situation of the pair.';
comment on column cegdb.costaging.probability is 'Posterior probability that both share a stage, over all stagings of the hyperstage.';
comment on column cegdb.costaging.std_error is 'Standard error of the probability from the draws; null if it is exact.';
comment on column cegdb.costaging.method is 'exact: from all stagings of the hyperstage; sampled: from random draws of them.';
