-- One row a situation of a staged tree: its stage beside its floret, labels in level order.
create view cegdb.staged_florets as
select
    g.name as staging,
    f.situation,
    s.stage,
    f.variable,
    f.labels,
    f.counts,
    f.n,
    s.colour,
    f.vertex_id,
    s.stage_id
from cegdb.stage_member as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.florets as f on t.name = f.tree and m.vertex_id = f.vertex_id
inner join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id;
