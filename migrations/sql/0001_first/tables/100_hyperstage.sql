create table cegdb.hyperstage (
    staging_id integer not null,
    hyperstage_id bigint not null,
    variable_id integer,
    labels varchar[] not null,
    n_situations bigint not null check (n_situations >= 0)
);

comment on table cegdb.hyperstage is 'One row per hyperstage: situations that are allowed to share a stage.';
comment on column cegdb.hyperstage.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.hyperstage.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
comment on column cegdb.hyperstage.variable_id is 'The variable of its situations; null if they have several.';
comment on column cegdb.hyperstage.labels is 'The answers that its situations have in common, in level order.';
comment on column cegdb.hyperstage.n_situations is 'Number of situations in the hyperstage.';
