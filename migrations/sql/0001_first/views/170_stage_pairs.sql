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

comment on view cegdb.stage_pairs is 'One row per pair of situations of a hyperstage and kind of bootstrap: how often both were in one stage.';
comment on column cegdb.stage_pairs.staging is 'Name of the staged tree.';
comment on column cegdb.stage_pairs.kind is 'nonparametric: respondents were drawn again; parametric: they were simulated from the stages.';
comment on column cegdb.stage_pairs.variable is 'The variable of the first situation.';
comment on column cegdb.stage_pairs.situation is 'Name of the first situation.';
comment on column cegdb.stage_pairs.path is 'The answers that lead to it, joined by '' -> ''.';
comment on column cegdb.stage_pairs.other is 'Name of the second situation.';
comment on column cegdb.stage_pairs.other_path is 'The answers that lead to the second situation, joined by '' -> ''.';
comment on column cegdb.stage_pairs.stage is 'Name of the first situation''s stage.';
comment on column cegdb.stage_pairs.other_stage is 'Name of the second situation''s stage.';
comment on column cegdb.stage_pairs.is_together is 'Whether the staging itself puts both in one stage.';
comment on column cegdb.stage_pairs.n_runs is 'Number of replicates in which respondents reached both situations.';
comment on column cegdb.stage_pairs.n_together is 'Number of those replicates that put both in one stage.';
comment on column cegdb.stage_pairs.share is 'n_together / n_runs, from 0 to 1; null if n_runs is 0.';
comment on column cegdb.stage_pairs.vertex_id is 'vertex_id of the first situation.';
comment on column cegdb.stage_pairs.other_id is 'vertex_id of the second situation.';
