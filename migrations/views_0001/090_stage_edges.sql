-- One row a stage and label: prior mass, n = rows that gave the answer, share = n / total
-- (weighted where the survey is), probability = posterior mean with its 95 % interval, low to
-- high, given the staging: how sure the stages are is no part of it.
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
