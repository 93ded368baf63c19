create view cegdb.merge_steps as
select
    c.name as ceg,
    m.step,
    m.height,
    m.n_situations,
    m.n_positions,
    m.n_vertices,
    m.n_edges,
    m.seconds
from cegdb.merge_step as m
inner join cegdb.ceg as c on m.ceg_id = c.ceg_id;

comment on view cegdb.merge_steps is 'One row per graph G_0, G_1, ... of the recursion that merges situations into positions; G_0 is the tree.';
comment on column cegdb.merge_steps.ceg is 'Name of the CEG.';
comment on column cegdb.merge_steps.step is 'Number i of the graph G_i, from 0 on.';
comment on column cegdb.merge_steps.height is 'Height whose vertices were merged last.';
comment on column cegdb.merge_steps.n_situations is 'Number of tree vertices of that height; 0 for G_0.';
comment on column cegdb.merge_steps.n_positions is 'Number of positions they were merged into; 0 for G_0.';
comment on column cegdb.merge_steps.n_vertices is 'Number of vertices of G_i.';
comment on column cegdb.merge_steps.n_edges is 'Number of edges of G_i.';
comment on column cegdb.merge_steps.seconds is 'Time of the step, in seconds; for G_0, to read the staged tree.';
