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
    v.stage,
    o.stage as other_stage,
    p.is_together,
    p.n_runs,
    p.n_together,
    p.n_together / nullif(p.n_runs, 0) as share,
    p.vertex_id,
    p.other_id
from cegdb.situation_pair as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
inner join cegdb.staged_situations as v on g.name = v.staging and p.vertex_id = v.vertex_id
inner join cegdb.staged_situations as o on g.name = o.staging and p.other_id = o.vertex_id;
