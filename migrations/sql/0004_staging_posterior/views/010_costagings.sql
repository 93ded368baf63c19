create view cegdb.costagings as
select
    g.name as staging,
    v.variable,
    v.situation,
    v.path,
    o.situation as other,
    o.path as other_path,
    v.stage,
    o.stage as other_stage,
    v.stage_id = o.stage_id as is_together,
    p.probability,
    p.std_error,
    p.method,
    p.vertex_id,
    p.other_id
from cegdb.costaging as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
inner join cegdb.staged_situations as v on g.name = v.staging and p.vertex_id = v.vertex_id
inner join cegdb.staged_situations as o on g.name = o.staging and p.other_id = o.vertex_id;

comment on view cegdb.costagings is 'One row per pair of situations of a hyperstage: how probable it is that both share a stage.';
comment on column cegdb.costagings.staging is 'Name of the staged tree.';
comment on column cegdb.costagings.variable is 'The variable of the first situation.';
comment on column cegdb.costagings.situation is 'Name of the first situation.';
comment on column cegdb.costagings.path is 'The answers that lead to it, joined by '' -> ''.';
comment on column cegdb.costagings.other is 'Name of the second situation.';
comment on column cegdb.costagings.other_path is 'The answers that lead to the second situation, joined by '' -> ''.';
comment on column cegdb.costagings.stage is 'Name of the first situation''s stage.';
comment on column cegdb.costagings.other_stage is 'Name of the second situation''s stage.';
comment on column cegdb.costagings.is_together is 'Whether the staging itself puts both in one stage.';
comment on column cegdb.costagings.probability is 'Posterior probability that both share a stage, over all stagings of the hyperstage.';
comment on column cegdb.costagings.std_error is 'Standard error of the probability from the draws; null if it is exact.';
comment on column cegdb.costagings.method is 'exact: from all stagings of the hyperstage; sampled: from random draws of them.';
comment on column cegdb.costagings.vertex_id is 'vertex_id of the first situation.';
comment on column cegdb.costagings.other_id is 'vertex_id of the second situation.';
