-- Vertices are numbered within the staging, as in the view staged_vertices. An interval is
-- Wilson's (1927), of what the rows count in the staging (effectively, with weights or a design
-- effect), widened to contain the probability. Where nobody answered it is that of a stage that nobody reached, or 0 to 1.
create or replace view cegdb.staged_edges as
with named as not materialized (
    select
        g.name as staging,
        if(v.variable_id is null, 'l', 's') || (
            row_number() over (
                partition by g.staging_id, g.name, v.variable_id is null
                order by v.vertex_id
            ) - 1
        ) as vertex,
        v.variable_id,
        v.vertex_id
    from cegdb.staging as g
    inner join cegdb.vertex as v on g.tree_id = v.tree_id
),

staged as (
    select
        g.name as staging,
        m.vertex_id,
        m.stage_id,
        p.share,
        p.probability,
        p.low,
        p.high,
        p.label_id
    from cegdb.staging as g
    inner join cegdb.stage_member as m on g.staging_id = m.staging_id
    inner join cegdb.stage_edge as p
        on g.staging_id = p.staging_id and m.stage_id = p.stage_id
),

answered as (
    select
        g.name as staging,
        s.vertex as source,
        l.label,
        t.vertex as target,
        q.name as variable,
        e.n,
        e.weight,
        p.share,
        p.probability,
        p.low as stage_low,
        p.high as stage_high,
        p.stage_id,
        e.parent_id,
        e.child_id,
        p.label_id,
        case
            when e.weight is null or g.settings ->> '$.weighting' = 'none'
                then sum(e.n) over (partition by g.name, e.parent_id)
            when g.settings ->> '$.weighting' = 'total'
                then
                    cast(sum(e.weight) over (partition by g.name, e.parent_id) as double)
                    * o.n / nullif(cast(o.weight as double), 0)
            when g.settings ->> '$.weighting' = 'global'
                then
                    cast(sum(e.weight) over (partition by g.name, e.parent_id) as double)
                    * cast(o.weight as double) / nullif(cast(k.weight_sq as double), 0)
            else
                pow(cast(sum(e.weight) over (partition by g.name, e.parent_id) as double), 2)
                / nullif(
                    cast(sum(w.weight_sq) over (partition by g.name, e.parent_id) as double), 0
                )
        end / coalesce(
            cast(
                (g.settings -> '$.deff')
                ->> ('/' || replace(replace(q.name, '~', '~0'), '/', '~1')) as double
            ),
            1
        ) as size,
        coalesce(
            if(g.settings ->> '$.weighting' = 'none', null, cast(e.weight as double))
            / nullif(
                cast(sum(e.weight) over (partition by g.name, e.parent_id) as double), 0
            ),
            e.n / nullif(sum(e.n) over (partition by g.name, e.parent_id), 0)
        ) as own_share
    from cegdb.staging as g
    inner join cegdb.edge as e on g.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on g.staging_id = r.staging_id and e.child_id = r.child_id
    left join cegdb.vertex_weight as w
        on g.tree_id = w.tree_id and e.child_id = w.vertex_id
    inner join cegdb.vertex as o on g.tree_id = o.tree_id and o.vertex_id = 0
    left join cegdb.vertex_weight as k on g.tree_id = k.tree_id and k.vertex_id = 0
    inner join named as s on g.name = s.staging and e.parent_id = s.vertex_id
    inner join named as t on g.name = t.staging and e.child_id = t.vertex_id
    left join cegdb.variable as q on s.variable_id = q.variable_id
    inner join staged as p
        on
            g.name = p.staging
            and e.parent_id = p.vertex_id
            and p.label_id = coalesce(r.label_id, l.label_id)
),

-- The square of 1.96, the quantile of the normal distribution.
normal as (
    select 3.841458820694124 as z2
),

limited as (
    select
        a.*,
        (a.own_share + q.z2 / (2 * a.size)) / (1 + q.z2 / a.size) as centre,
        sqrt(
            q.z2 * a.own_share * (1 - a.own_share) / a.size + pow(q.z2 / (2 * a.size), 2)
        ) / (1 + q.z2 / a.size) as half
    from answered as a
    cross join normal as q
)

select
    staging,
    source,
    label,
    target,
    variable,
    n,
    weight,
    share,
    probability,
    case
        when stage_low is null or share is null then stage_low
        when size > 0 then least(probability, if(own_share = 0, 0, centre - half))
        else 0
    end as low,
    case
        when stage_low is null or share is null then stage_high
        when size > 0 then greatest(probability, if(own_share = 1, 1, centre + half))
        else 1
    end as high,
    stage_low,
    stage_high,
    stage_id,
    parent_id,
    child_id,
    label_id
from limited;


comment on view cegdb.staged_edges is 'One row per edge of a staged tree: the count of the situation itself, the probability of its stage.';
comment on column cegdb.staged_edges.staging is 'Name of the staged tree.';
comment on column cegdb.staged_edges.source is 'Name of the situation where the edge starts.';
comment on column cegdb.staged_edges.label is 'The answer in the tree.';
comment on column cegdb.staged_edges.target is 'Name of the vertex where the edge ends.';
comment on column cegdb.staged_edges.variable is 'The variable of the source.';
comment on column cegdb.staged_edges.n is 'Number of respondents who took the edge.';
comment on column cegdb.staged_edges.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.staged_edges.share is 'Observed share of the answer in the stage, from 0 to 1; null if nobody answered.';
comment on column cegdb.staged_edges.probability is 'Posterior mean of the answer''s probability in the stage, from 0 to 1.';
comment on column cegdb.staged_edges.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.staged_edges.parent_id is 'vertex_id of the situation where the edge starts.';
comment on column cegdb.staged_edges.child_id is 'vertex_id of the vertex where the edge ends.';
comment on column cegdb.staged_edges.label_id is 'The label in the stage (stage_edges); another than the tree''s if the staging relabels the edge.';
comment on column cegdb.staged_edges.low is 'Lower end of the 95 % interval of the answer''s share at the source alone; null where no other answer is possible.';
comment on column cegdb.staged_edges.high is 'Upper end of the 95 % interval of the answer''s share at the source alone; null where no other answer is possible.';
comment on column cegdb.staged_edges.stage_low is 'Lower end of the 95 % interval of the share in the whole stage, whether or not its situations are alike.';
comment on column cegdb.staged_edges.stage_high is 'Upper end of the 95 % interval of the share in the whole stage, whether or not its situations are alike.';
