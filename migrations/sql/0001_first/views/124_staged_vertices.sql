-- Vertices are numbered here, within the staging, and not taken from the view vertices: so a
-- condition on the staging filters the tables before vertices of other trees are numbered.
create view cegdb.staged_vertices as
with named as (
    select
        g.name as staging,
        if(v.variable_id is null, 'l', 's') || (
            row_number() over (
                partition by g.staging_id, g.name, v.variable_id is null
                order by v.vertex_id
            ) - 1
        ) as vertex,
        v.variable_id,
        v.depth,
        v.height,
        v.n,
        v.weight,
        v.vertex_id
    from cegdb.staging as g
    inner join cegdb.vertex as v on g.tree_id = v.tree_id
),

member as (
    select
        g.name as staging,
        m.vertex_id,
        s.stage,
        s.colour,
        s.stage_id
    from cegdb.staging as g
    inner join cegdb.stage_member as m on g.staging_id = m.staging_id
    inner join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id
)

select
    v.staging,
    v.vertex,
    q.name as variable,
    m.stage,
    m.colour,
    v.depth,
    v.height,
    v.n,
    v.weight,
    v.vertex_id,
    m.stage_id
from named as v
left join cegdb.variable as q on v.variable_id = q.variable_id
left join member as m on v.staging = m.staging and v.vertex_id = m.vertex_id;

comment on view cegdb.staged_vertices is 'One row per vertex of a staged tree.';
comment on column cegdb.staged_vertices.staging is 'Name of the staged tree.';
comment on column cegdb.staged_vertices.vertex is 'Name of the vertex: s0, s1, ... for situations and l0, l1, ... for leaves, in the order of vertex_id.';
comment on column cegdb.staged_vertices.variable is 'The variable of the situation; null for a leaf.';
comment on column cegdb.staged_vertices.stage is 'Name of its stage: u0, u1, ...; null for a leaf.';
comment on column cegdb.staged_vertices.colour is 'Colour of the stage in pictures, as #rrggbb; null for a leaf.';
comment on column cegdb.staged_vertices.depth is 'Number of edges from the root.';
comment on column cegdb.staged_vertices.height is 'Number of edges on the longest path to a leaf; 0 for a leaf.';
comment on column cegdb.staged_vertices.n is 'Number of respondents who reached the vertex.';
comment on column cegdb.staged_vertices.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.staged_vertices.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.staged_vertices.stage_id is 'The stage: the smallest vertex_id in it. Null for a leaf.';
