create or replace view cegdb.ceg_edges as
with staged as (
    select
        c.name as ceg,
        p.stage_id,
        p.label_id,
        p.share,
        p.low,
        p.high
    from cegdb.ceg as c
    inner join cegdb.stage_edge as p on c.staging_id = p.staging_id
)

select
    c.name as ceg,
    s.position as source,
    l.label,
    t.position as target,
    s.variable,
    e.n,
    e.weight,
    if(c.staging_id is null, null, e.prior) as prior,
    p.share,
    e.probability,
    e.low,
    e.high,
    p.low as stage_low,
    p.high as stage_high,
    e.raw_labels,
    e.source_id,
    e.target_id,
    e.label_id
from cegdb.ceg_edge as e
inner join cegdb.ceg as c on e.ceg_id = c.ceg_id
inner join cegdb.staging as g on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
inner join cegdb.event_tree as x on g.tree_id = x.tree_id
inner join cegdb.labels as l on x.survey_id = l.survey_id and e.label_id = l.label_id
inner join cegdb.positions as s on c.name = s.ceg and e.source_id = s.position_id
inner join cegdb.positions as t on c.name = t.ceg and e.target_id = t.position_id
left join staged as p
    on c.name = p.ceg and s.stage_id = p.stage_id and e.label_id = p.label_id;

comment on view cegdb.ceg_edges is 'One row per edge of a CEG; parallel edges differ by label. In a CEG conditioned on evidence, probability is given the evidence, and prior, share, low and high are null.';
comment on column cegdb.ceg_edges.ceg is 'Name of the CEG.';
comment on column cegdb.ceg_edges.source is 'Name of the vertex where the edge starts.';
comment on column cegdb.ceg_edges.label is 'The answer.';
comment on column cegdb.ceg_edges.target is 'Name of the vertex where the edge ends.';
comment on column cegdb.ceg_edges.variable is 'The variable of the source; null if it has several.';
comment on column cegdb.ceg_edges.n is 'Number of respondents who took the edge from any situation of the source.';
comment on column cegdb.ceg_edges.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.ceg_edges.prior is 'Prior mass of the edge in the situations of the source.';
comment on column cegdb.ceg_edges.share is 'Observed share of the answer in the source''s stage, from 0 to 1; null if nobody answered.';
comment on column cegdb.ceg_edges.probability is 'Posterior mean of the answer''s probability at the source, from 0 to 1.';
comment on column cegdb.ceg_edges.raw_labels is 'The tree''s own labels of the edge; more than one if the staging relabels several answers alike.';
comment on column cegdb.ceg_edges.source_id is 'position_id of the vertex where the edge starts.';
comment on column cegdb.ceg_edges.target_id is 'position_id of the vertex where the edge ends.';
comment on column cegdb.ceg_edges.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
comment on column cegdb.ceg_edges.low is 'Lower end of the 95 % interval of the answer''s share at the source, whether or not its situations are alike; null where no other answer is possible, and given evidence.';
comment on column cegdb.ceg_edges.high is 'Upper end of the 95 % interval of the answer''s share at the source, whether or not its situations are alike; null where no other answer is possible, and given evidence.';
comment on column cegdb.ceg_edges.stage_low is 'Lower end of the 95 % interval of the share in the whole stage, whether or not its situations are alike.';
comment on column cegdb.ceg_edges.stage_high is 'Upper end of the 95 % interval of the share in the whole stage, whether or not its situations are alike.';
