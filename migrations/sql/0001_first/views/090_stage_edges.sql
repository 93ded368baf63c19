create view cegdb.stage_edges as
select
    g.name as staging,
    s.stage,
    s.variable,
    l.label,
    e.prior,
    e.n,
    e.weight,
    e.share,
    e.probability,
    e.low,
    e.high,
    e.stage_id,
    e.label_id
from cegdb.stage_edge as e
inner join cegdb.staging as g on e.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.labels as l on t.survey_id = l.survey_id and e.label_id = l.label_id
inner join cegdb.stages as s on g.name = s.staging and e.stage_id = s.stage_id;

comment on view cegdb.stage_edges is 'One row per stage and answer, with its probability. Intervals hold given the staging: uncertainty about the stages is not included.';
comment on column cegdb.stage_edges.staging is 'Name of the staged tree.';
comment on column cegdb.stage_edges.stage is 'Name of the stage: u0, u1, ... in the order of stage_id.';
comment on column cegdb.stage_edges.variable is 'The variable of the stage; null if it has several.';
comment on column cegdb.stage_edges.label is 'The answer.';
comment on column cegdb.stage_edges.prior is 'Prior mass of the answer (parameter of the Dirichlet distribution), above 0.';
comment on column cegdb.stage_edges.n is 'Number of respondents who gave the answer in any situation of the stage.';
comment on column cegdb.stage_edges.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.stage_edges.share is 'Observed share of the answer, from 0 to 1: n / total, or weight / total weight; null if nobody answered.';
comment on column cegdb.stage_edges.probability is 'Posterior mean of the answer''s probability in the stage, from 0 to 1.';
comment on column cegdb.stage_edges.low is 'Lower end of the 95 % credible interval, given the staging; null for a single edge.';
comment on column cegdb.stage_edges.high is 'Upper end of the 95 % credible interval, given the staging; null for a single edge.';
comment on column cegdb.stage_edges.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.stage_edges.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
