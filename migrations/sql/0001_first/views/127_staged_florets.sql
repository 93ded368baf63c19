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

comment on view cegdb.staged_florets is 'One row per situation of a staged tree, with its stage and its whole floret.';
comment on column cegdb.staged_florets.staging is 'Name of the staged tree.';
comment on column cegdb.staged_florets.situation is 'Name of the situation: s0 (the root), s1, ... in the order of vertex_id.';
comment on column cegdb.staged_florets.stage is 'Name of its stage: u0, u1, ...';
comment on column cegdb.staged_florets.variable is 'The variable of the situation.';
comment on column cegdb.staged_florets.labels is 'The answers, in level order.';
comment on column cegdb.staged_florets.counts is 'Number of respondents who gave each answer, in the order of labels.';
comment on column cegdb.staged_florets.n is 'Number of respondents who reached the situation.';
comment on column cegdb.staged_florets.colour is 'Colour in pictures, as #rrggbb; white for a stage of one situation.';
comment on column cegdb.staged_florets.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.staged_florets.stage_id is 'The stage: the smallest vertex_id in it.';
