-- One row a situation of a CEG's tree: its path in words, its stage and its position.
create view cegdb.situation_positions as
select
    c.name as ceg,
    s.situation,
    s.variable,
    s.path,
    p.stage,
    p.position,
    s.n,
    s.labels,
    s.vertex_id,
    p.stage_id,
    p.position_id
from cegdb.position_member as m
inner join cegdb.ceg as c on m.ceg_id = c.ceg_id
inner join cegdb.staging as g on c.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.situations as s on t.name = s.tree and m.vertex_id = s.vertex_id
inner join cegdb.positions as p on c.name = p.ceg and m.position_id = p.position_id;
