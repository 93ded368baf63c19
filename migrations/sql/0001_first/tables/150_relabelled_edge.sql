create table cegdb.relabelled_edge (
    staging_id integer not null,
    child_id bigint not null,
    label_id integer not null,
    label varchar not null
);

comment on table cegdb.relabelled_edge is 'One row per edge of the tree to which a staging gives another label.';
comment on column cegdb.relabelled_edge.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.relabelled_edge.child_id is 'vertex_id of the vertex where the edge ends.';
comment on column cegdb.relabelled_edge.label_id is 'Id of the new label.';
comment on column cegdb.relabelled_edge.label is 'The new label.';
