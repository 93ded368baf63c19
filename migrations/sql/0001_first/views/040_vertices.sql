create view cegdb.vertices as
select
    t.name as tree,
    if(v.variable_id is null, 'l', 's') || (
        row_number() over (
            partition by t.tree_id, t.name, v.variable_id is null
            order by v.vertex_id
        ) - 1
    ) as vertex,
    v.vertex_id,
    v.depth,
    v.height,
    q.name as variable,
    v.n,
    v.weight,
    v.n_stopped
from cegdb.vertex as v
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
left join cegdb.variable as q on v.variable_id = q.variable_id;

comment on view cegdb.vertices is 'One row per vertex of an event tree.';
comment on column cegdb.vertices.tree is 'Name of the event tree.';
comment on column cegdb.vertices.vertex is 'Name of the vertex: s0, s1, ... for situations and l0, l1, ... for leaves, in the order of vertex_id.';
comment on column cegdb.vertices.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.vertices.depth is 'Number of edges from the root.';
comment on column cegdb.vertices.height is 'Number of edges on the longest path to a leaf; 0 for a leaf.';
comment on column cegdb.vertices.variable is 'The variable of the situation; null for a leaf.';
comment on column cegdb.vertices.n is 'Number of respondents who reached the vertex.';
comment on column cegdb.vertices.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.vertices.n_stopped is 'Number of respondents who reached the vertex and gave no further answer; 0 for a leaf.';
