-- One row an edge of an event tree; n = rows that took it, share = n / rows that took any
-- edge of its floret (null where nobody did).
create view cegdb.tree_edges as
select
    s.tree,
    s.vertex as source,
    l.label,
    t.vertex as target,
    s.variable,
    e.n,
    e.weight,
    e.n / nullif(s.n - s.n_stopped, 0) as share,
    e.parent_id,
    e.child_id,
    e.level_id
from cegdb.edge as e
inner join cegdb.event_tree as x on e.tree_id = x.tree_id
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.vertices as s on x.name = s.tree and e.parent_id = s.vertex_id
inner join cegdb.vertices as t on x.name = t.tree and e.child_id = t.vertex_id;
