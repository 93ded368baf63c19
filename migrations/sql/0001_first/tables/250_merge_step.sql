create table cegdb.merge_step (
    ceg_id integer not null,
    step integer not null,
    height integer not null,
    n_situations bigint not null check (n_situations >= 0),
    n_positions bigint not null check (n_positions >= 0),
    n_vertices bigint not null check (n_vertices >= 0),
    n_edges bigint not null check (n_edges >= 0),
    seconds double not null
);

comment on table cegdb.merge_step is 'One row per graph G_0, G_1, ... of the recursion that merges situations into positions; G_0 is the tree.';
comment on column cegdb.merge_step.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.merge_step.step is 'Number i of the graph G_i, from 0 on.';
comment on column cegdb.merge_step.height is 'Height whose vertices were merged last.';
comment on column cegdb.merge_step.n_situations is 'Number of tree vertices of that height; 0 for G_0.';
comment on column cegdb.merge_step.n_positions is 'Number of positions they were merged into; 0 for G_0.';
comment on column cegdb.merge_step.n_vertices is 'Number of vertices of G_i.';
comment on column cegdb.merge_step.n_edges is 'Number of edges of G_i.';
comment on column cegdb.merge_step.seconds is 'Time of the step, in seconds; for G_0, to read the staged tree.';
