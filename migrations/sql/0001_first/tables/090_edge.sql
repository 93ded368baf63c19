create table cegdb.edge (
    tree_id integer not null,
    parent_id bigint not null,
    child_id bigint not null,
    level_id integer not null,
    n bigint not null check (n >= 0),
    weight decimal(38, 12)
);

comment on table cegdb.edge is 'One row per edge of an event tree.';
comment on column cegdb.edge.tree_id is 'The event tree; joins to event_tree.';
comment on column cegdb.edge.parent_id is 'vertex_id of the situation where the edge starts.';
comment on column cegdb.edge.child_id is 'vertex_id of the vertex where the edge ends.';
comment on column cegdb.edge.level_id is 'The answer that the edge stands for; joins to level.';
comment on column cegdb.edge.n is 'Number of respondents who took the edge.';
comment on column cegdb.edge.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
