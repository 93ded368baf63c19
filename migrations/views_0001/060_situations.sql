-- One row a situation; path = the answers that lead to it, in words ('' for the root).
create view cegdb.situations as
with recursive walk as (
    select
        v.tree_id,
        v.vertex_id,
        v.variable_id,
        cast([] as varchar[]) as labels
    from cegdb.vertex as v
    where v.depth = 0
    union all
    select
        e.tree_id,
        e.child_id as vertex_id,
        v.variable_id,
        list_append(w.labels, l.label) as labels
    from walk as w
    inner join cegdb.edge as e on w.tree_id = e.tree_id and w.vertex_id = e.parent_id
    inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.child_id = v.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
)

select
    n.tree,
    n.vertex as situation,
    n.variable,
    array_to_string(w.labels, ' -> ') as path,
    w.labels,
    n.depth,
    n.height,
    n.n,
    n.weight,
    n.n_stopped,
    n.vertex_id
from walk as w
inner join cegdb.event_tree as t on w.tree_id = t.tree_id
inner join cegdb.vertices as n on t.name = n.tree and w.vertex_id = n.vertex_id
where w.variable_id is not null;
