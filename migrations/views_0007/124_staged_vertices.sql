-- One row a vertex of a staged tree; stage and colour are null on leaves. Names are those of
-- the view vertices, counted here within the staging: a condition on its name then reaches
-- the tables before all vertices of the others are numbered.
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
