-- One row a pair of situations of a hyperstage, from a bootstrap of a staging: n_runs = those
-- in which rows reached both, n_together = those that put both in one stage, share =
-- n_together / n_runs. kind: rows drawn again (nonparametric) or simulated from the stages
-- (parametric).
create view cegdb.stage_pairs as
select
    g.name as staging,
    p.kind,
    v.variable,
    v.situation,
    v.path,
    o.situation as other,
    o.path as other_path,
    s.stage,
    u.stage as other_stage,
    p.is_together,
    p.n_runs,
    p.n_together,
    p.n_together / nullif(p.n_runs, 0) as share,
    p.vertex_id,
    p.other_id
from cegdb.situation_pair as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.stage_member as m
    on p.staging_id = m.staging_id and p.vertex_id = m.vertex_id
inner join cegdb.stage_member as n
    on p.staging_id = n.staging_id and p.other_id = n.vertex_id
inner join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id
inner join cegdb.stages as u on g.name = u.staging and n.stage_id = u.stage_id
inner join cegdb.situations as v on t.name = v.tree and p.vertex_id = v.vertex_id
inner join cegdb.situations as o on t.name = o.tree and p.other_id = o.vertex_id;
