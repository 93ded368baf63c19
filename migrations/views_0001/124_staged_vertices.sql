-- One row a vertex of a staged tree; stage and colour are null on leaves.
create view cegdb.staged_vertices as
select
    g.name as staging,
    v.vertex,
    v.variable,
    s.stage,
    s.colour,
    v.depth,
    v.height,
    v.n,
    v.weight,
    v.vertex_id,
    s.stage_id
from cegdb.staging as g
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.vertices as v on t.name = v.tree
left join cegdb.stage_member as m
    on g.staging_id = m.staging_id and v.vertex_id = m.vertex_id
left join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id;
