-- One row an edge of a staged tree; n of the situation itself, probability of its stage.
create view cegdb.staged_edges as
select
    g.name as staging,
    e.source,
    e.label,
    e.target,
    e.variable,
    e.n,
    e.weight,
    p.probability,
    m.stage_id,
    e.parent_id,
    e.child_id
from cegdb.staging as g
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.tree_edges as e on t.name = e.tree
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.stage_member as m
    on g.staging_id = m.staging_id and e.parent_id = m.vertex_id
inner join cegdb.stage_edge as p
    on g.staging_id = p.staging_id and m.stage_id = p.stage_id and l.label_id = p.label_id;
