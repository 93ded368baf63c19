create view cegdb.bootstrap_intervals as
with answer as (
    select
        g.name as staging,
        e.parent_id,
        coalesce(r.label_id, l.label_id) as label_id,
        e.n,
        e.weight,
        sum(e.n) over floret as total,
        sum(e.weight) over floret as total_weight
    from cegdb.staging as g
    inner join cegdb.edge as e on g.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on g.staging_id = r.staging_id and e.child_id = r.child_id
    window floret as (partition by g.name, e.parent_id)
)

select
    g.name as staging,
    v.situation,
    v.path,
    v.stage,
    v.variable,
    c.label,
    f.n,
    f.weight,
    coalesce(
        cast(f.weight as double) / nullif(cast(f.total_weight as double), 0),
        f.n / nullif(f.total, 0)
    ) as share,
    p.probability,
    b.low,
    b.high,
    b.level,
    b.n_runs,
    b.seed,
    b.vertex_id,
    v.stage_id,
    b.label_id
from cegdb.bootstrap_interval as b
inner join cegdb.staging as g on b.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.staged_situations as v on g.name = v.staging and b.vertex_id = v.vertex_id
inner join cegdb.stage_edge as p
    on
        b.staging_id = p.staging_id
        and v.stage_id = p.stage_id
        and b.label_id = p.label_id
inner join answer as f
    on
        g.name = f.staging
        and b.vertex_id = f.parent_id
        and b.label_id = f.label_id
inner join cegdb.labels as c on t.survey_id = c.survey_id and b.label_id = c.label_id;

comment on view cegdb.bootstrap_intervals is 'One row per situation and answer: percentile interval over replicates in each of which the stages were learnt again.';
comment on column cegdb.bootstrap_intervals.staging is 'Name of the staged tree.';
comment on column cegdb.bootstrap_intervals.situation is 'Name of the situation: s0 (the root), s1, ... in the order of vertex_id.';
comment on column cegdb.bootstrap_intervals.path is 'The answers from the root to the situation, joined by '' -> ''; empty for the root.';
comment on column cegdb.bootstrap_intervals.stage is 'Name of its stage: u0, u1, ...';
comment on column cegdb.bootstrap_intervals.variable is 'The variable of the situation.';
comment on column cegdb.bootstrap_intervals.label is 'The answer.';
comment on column cegdb.bootstrap_intervals.n is 'Number of respondents who gave the answer in the situation.';
comment on column cegdb.bootstrap_intervals.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.bootstrap_intervals.share is 'Observed share of the answer in the situation itself, from 0 to 1; null if nobody answered.';
comment on column cegdb.bootstrap_intervals.probability is 'Posterior mean of the answer''s probability in the staging, from 0 to 1.';
comment on column cegdb.bootstrap_intervals.low is 'Lower end of the interval.';
comment on column cegdb.bootstrap_intervals.high is 'Upper end of the interval.';
comment on column cegdb.bootstrap_intervals.level is 'Share of the replicates within the interval, such as 0.95.';
comment on column cegdb.bootstrap_intervals.n_runs is 'Number of replicates in which respondents reached the situation.';
comment on column cegdb.bootstrap_intervals.seed is 'Seed of the random numbers: the same seed and data give the same result.';
comment on column cegdb.bootstrap_intervals.vertex_id is 'The vertex. Vertices of a tree are numbered from 0, the root, level by level.';
comment on column cegdb.bootstrap_intervals.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.bootstrap_intervals.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
