-- One row a step of the recursion: G_0 is the tree, G_1 has its leaves merged, ...
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
