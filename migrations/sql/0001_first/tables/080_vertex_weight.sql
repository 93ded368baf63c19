create table cegdb.vertex_weight (
    tree_id integer not null,
    vertex_id bigint not null,
    weight_sq decimal(38, 12)
);

comment on table cegdb.vertex_weight is 'One row per vertex of an event tree whose survey has weights.';
comment on column cegdb.vertex_weight.tree_id is 'The event tree; joins to event_tree.';
comment on column cegdb.vertex_weight.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.vertex_weight.weight_sq is 'Sum of the squared weights of the respondents who reached the vertex; weight^2 / weight_sq is the effective sample size.';
