-- One row a situation and label: probability = posterior mean of its stage in the staging,
-- share = n / total of the situation itself (weighted where the survey is), low to high =
-- percentile interval over replicates in each of which the stages are learnt again; n_runs =
-- those that reached the situation.
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
