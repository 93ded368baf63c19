-- One row a situation with its whole floret: labels in level order and the count of each.
create view cegdb.florets as
select
    s.tree,
    s.vertex as situation,
    s.variable,
    list(l.label order by e.child_id) as labels,
    list(e.n order by e.child_id) as counts,
    count(*) as n_edges,
    s.n,
    s.n_stopped,
    s.vertex_id
from cegdb.edge as e
inner join cegdb.event_tree as x on e.tree_id = x.tree_id
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.vertices as s on x.name = s.tree and e.parent_id = s.vertex_id
group by s.tree, s.vertex, s.variable, s.n, s.n_stopped, s.vertex_id;
