create view cegdb.situation_positions as
with named as (
    select
        c.name as ceg,
        's' || (
            row_number() over (partition by c.ceg_id, c.name order by v.vertex_id) - 1
        ) as situation,
        v.variable_id,
        v.n,
        v.vertex_id
    from cegdb.ceg as c
    inner join cegdb.staging as g
        on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id
    where v.variable_id is not null
),

member as (
    select
        p.ceg,
        m.vertex_id,
        p.position,
        p.position_id,
        p.stage,
        p.stage_id
    from cegdb.ceg as c
    inner join cegdb.position_member as m on c.ceg_id = m.ceg_id
    inner join cegdb.positions as p on c.name = p.ceg and m.position_id = p.position_id
)

select
    c.name as ceg,
    v.situation,
    q.name as variable,
    w.path,
    p.stage,
    p.position,
    v.n,
    w.labels,
    v.vertex_id,
    p.stage_id,
    p.position_id
from cegdb.ceg as c
inner join cegdb.staging as g on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
cross join
    lateral (
        select
            vertex_id,
            labels,
            path
        from cegdb.situation_paths(g.tree_id)
    ) as w
inner join named as v on c.name = v.ceg and w.vertex_id = v.vertex_id
inner join cegdb.variable as q on v.variable_id = q.variable_id
inner join member as p on c.name = p.ceg and w.vertex_id = p.vertex_id;

comment on view cegdb.situation_positions is 'One row per situation of a CEG''s tree, with its stage and position. Of a CEG conditioned on evidence: the situations that can still be reached.';
comment on column cegdb.situation_positions.ceg is 'Name of the CEG.';
comment on column cegdb.situation_positions.situation is 'Name of the situation: s0 (the root), s1, ... in the order of vertex_id.';
comment on column cegdb.situation_positions.variable is 'The variable of the situation.';
comment on column cegdb.situation_positions.path is 'The answers from the root to the situation, joined by '' -> ''; empty for the root.';
comment on column cegdb.situation_positions.stage is 'Name of its stage: u0, u1, ...';
comment on column cegdb.situation_positions.position is 'Name of its position: w0 (the root), w1, ...';
comment on column cegdb.situation_positions.n is 'Number of respondents who reached the situation.';
comment on column cegdb.situation_positions.labels is 'The answers from the root to the situation, as a list.';
comment on column cegdb.situation_positions.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.situation_positions.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.situation_positions.position_id is 'The position: the smallest vertex_id in it.';
