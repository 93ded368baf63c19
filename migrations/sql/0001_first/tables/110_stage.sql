create table cegdb.stage (
    staging_id integer not null,
    stage_id bigint not null,
    hyperstage_id bigint not null,
    n_situations bigint not null check (n_situations >= 0),
    n bigint not null check (n >= 0),
    colour varchar not null,
    kind varchar not null check (kind in ('learnt', 'given', 'single_edge', 'unobserved')),
    name varchar
);

comment on table cegdb.stage is 'One row per stage: situations that share their transition probabilities.';
comment on column cegdb.stage.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.stage.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.stage.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
comment on column cegdb.stage.n_situations is 'Number of situations in the stage.';
comment on column cegdb.stage.n is 'Number of respondents who reached its situations.';
comment on column cegdb.stage.colour is 'Colour in pictures, as #rrggbb; white for a stage of one situation.';
comment on column cegdb.stage.kind is 'How it was made: learnt, given, single_edge (one answer only, probability 1) or unobserved (no respondent answered its question).';
comment on column cegdb.stage.name is 'Name given by the user; null if none was given.';
