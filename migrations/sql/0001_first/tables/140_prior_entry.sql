create table cegdb.prior_entry (
    staging_id integer not null,
    child_id bigint not null,
    vertex_id bigint not null,
    label varchar not null,
    prior double not null
);

comment on table cegdb.prior_entry is 'One row per edge whose prior mass the user gave.';
comment on column cegdb.prior_entry.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.prior_entry.child_id is 'vertex_id of the vertex where the edge ends.';
comment on column cegdb.prior_entry.vertex_id is 'vertex_id of the situation where the edge starts.';
comment on column cegdb.prior_entry.label is 'The answer that the edge stands for.';
comment on column cegdb.prior_entry.prior is 'Prior mass given, above 0.';
