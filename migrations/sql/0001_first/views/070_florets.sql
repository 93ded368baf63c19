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

comment on view cegdb.florets is 'One row per situation of an event tree, with its whole floret.';
comment on column cegdb.florets.tree is 'Name of the event tree.';
comment on column cegdb.florets.situation is 'Name of the situation: s0 (the root), s1, ... in the order of vertex_id.';
comment on column cegdb.florets.variable is 'The variable of the situation.';
comment on column cegdb.florets.labels is 'The answers, in level order.';
comment on column cegdb.florets.counts is 'Number of respondents who gave each answer, in the order of labels.';
comment on column cegdb.florets.n_edges is 'Number of edges of the floret.';
comment on column cegdb.florets.n is 'Number of respondents who reached the situation.';
comment on column cegdb.florets.n_stopped is 'Number of respondents who reached the situation and gave no further answer.';
comment on column cegdb.florets.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
