create table cegdb.vertex (
    tree_id integer not null,
    vertex_id bigint not null,
    depth integer not null,
    height integer not null,
    variable_id integer,
    n bigint not null check (n >= 0),
    weight decimal(38, 12),
    n_stopped bigint not null check (n_stopped >= 0)
);

comment on table cegdb.vertex is 'One row per vertex of an event tree.';
comment on column cegdb.vertex.tree_id is 'The event tree; joins to event_tree.';
comment on column cegdb.vertex.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.vertex.depth is 'Number of edges from the root.';
comment on column cegdb.vertex.height is 'Number of edges on the longest path to a leaf; 0 for a leaf.';
comment on column cegdb.vertex.variable_id is 'The variable of the situation; joins to variable. Null for a leaf.';
comment on column cegdb.vertex.n is 'Number of respondents who reached the vertex.';
comment on column cegdb.vertex.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.vertex.n_stopped is 'Number of respondents who reached the vertex and gave no further answer; 0 for a leaf.';
