-- One row a situation with its whole floret: labels in level order and the count of each.
create view cegdb.florets as
with grouped as (
    select
        t.name as tree,
        e.parent_id,
        list_sort(
            list(struct_pack(child_id := e.child_id, label := l.label, n := e.n))
        ) as edges
    from cegdb.event_tree as t
    inner join cegdb.edge as e on t.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    group by t.name, e.parent_id
)

select
    s.tree,
    s.vertex as situation,
    s.variable,
    [edge.label for edge in g.edges] as labels,
    [edge.n for edge in g.edges] as counts,
    len(g.edges) as n_edges,
    s.n,
    s.n_stopped,
    s.vertex_id
from grouped as g
inner join cegdb.vertices as s on g.tree = s.tree and g.parent_id = s.vertex_id;
