create view cegdb.staged_situations as
select
    v.staging,
    v.vertex as situation,
    v.variable,
    w.path,
    v.stage,
    v.n,
    w.labels,
    v.vertex_id,
    v.stage_id
from cegdb.staging as g
cross join
    lateral (
        select
            vertex_id,
            labels,
            path
        from cegdb.situation_paths(g.tree_id)
    ) as w
inner join cegdb.staged_vertices as v on g.name = v.staging and w.vertex_id = v.vertex_id
where v.stage_id is not null;

comment on view cegdb.staged_situations is 'One row per situation of a staged tree, with its path and stage.';
comment on column cegdb.staged_situations.staging is 'Name of the staged tree.';
comment on column cegdb.staged_situations.situation is 'Name of the situation: s0 (the root), s1, ... in the order of vertex_id.';
comment on column cegdb.staged_situations.variable is 'The variable of the situation.';
comment on column cegdb.staged_situations.path is 'The answers from the root to the situation, joined by '' -> ''; empty for the root.';
comment on column cegdb.staged_situations.stage is 'Name of its stage: u0, u1, ...';
comment on column cegdb.staged_situations.n is 'Number of respondents who reached the situation.';
comment on column cegdb.staged_situations.labels is 'The answers from the root to the situation, as a list.';
comment on column cegdb.staged_situations.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.staged_situations.stage_id is 'The stage: the smallest vertex_id in it.';
