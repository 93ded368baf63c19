-- One row a situation of a staged tree: its stage beside its floret, labels in level order.
create view cegdb.staged_florets as
with grouped as (
    select
        g.name as staging,
        e.parent_id,
        list_sort(
            list(struct_pack(child_id := e.child_id, label := l.label, n := e.n))
        ) as edges
    from cegdb.staging as g
    inner join cegdb.edge as e on g.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    group by g.name, e.parent_id
)

select
    v.staging,
    v.vertex as situation,
    v.stage,
    v.variable,
    [edge.label for edge in f.edges] as labels,
    [edge.n for edge in f.edges] as counts,
    v.n,
    v.colour,
    v.vertex_id,
    v.stage_id
from grouped as f
inner join cegdb.staged_vertices as v on f.staging = v.staging and f.parent_id = v.vertex_id;
