create view cegdb.situations as
select
    t.name as tree,
    's' || (
        row_number() over (partition by t.tree_id, t.name order by v.vertex_id) - 1
    ) as situation,
    q.name as variable,
    w.path,
    w.labels,
    v.depth,
    v.height,
    v.n,
    v.weight,
    v.n_stopped,
    v.vertex_id
from cegdb.event_tree as t
cross join
    lateral (
        select
            vertex_id,
            labels,
            path
        from cegdb.situation_paths(t.tree_id)
    ) as w
inner join cegdb.vertex as v on t.tree_id = v.tree_id and w.vertex_id = v.vertex_id
inner join cegdb.variable as q on v.variable_id = q.variable_id;

comment on view cegdb.situations is 'One row per situation (non-leaf vertex) of an event tree, with the path that leads to it.';
comment on column cegdb.situations.tree is 'Name of the event tree.';
comment on column cegdb.situations.situation is 'Name of the situation: s0 (the root), s1, ... in the order of vertex_id.';
comment on column cegdb.situations.variable is 'The variable of the situation.';
comment on column cegdb.situations.path is 'The answers from the root to the situation, joined by '' -> ''; empty for the root.';
comment on column cegdb.situations.labels is 'The answers from the root to the situation, as a list.';
comment on column cegdb.situations.depth is 'Number of edges from the root.';
comment on column cegdb.situations.height is 'Number of edges on the longest path to a leaf; 0 for a leaf.';
comment on column cegdb.situations.n is 'Number of respondents who reached the situation.';
comment on column cegdb.situations.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.situations.n_stopped is 'Number of respondents who reached the situation and gave no further answer.';
comment on column cegdb.situations.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
