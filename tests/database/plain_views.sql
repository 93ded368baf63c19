-- Views in their simplest form: slow beside other models, but easy to check by eye. The views
-- of the schema cegdb hold the same rows.
create schema plain;

create view plain.situations as
with recursive walk as (
    select
        v.tree_id,
        v.vertex_id,
        v.variable_id,
        cast([] as varchar[]) as labels
    from cegdb.vertex as v
    where v.depth = 0
    union all
    select
        e.tree_id,
        e.child_id as vertex_id,
        v.variable_id,
        list_append(w.labels, l.label) as labels
    from walk as w
    inner join cegdb.edge as e on w.tree_id = e.tree_id and w.vertex_id = e.parent_id
    inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.child_id = v.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
)

select
    n.tree,
    n.vertex as situation,
    n.variable,
    array_to_string(w.labels, ' -> ') as path,
    w.labels,
    n.depth,
    n.height,
    n.n,
    n.weight,
    n.n_stopped,
    n.vertex_id
from walk as w
inner join cegdb.event_tree as t on w.tree_id = t.tree_id
inner join cegdb.vertices as n on t.name = n.tree and w.vertex_id = n.vertex_id
where w.variable_id is not null;

create view plain.florets as
with grouped as (
    select
        e.tree_id,
        e.parent_id,
        list_sort(
            list(struct_pack(child_id := e.child_id, label := l.label, n := e.n))
        ) as edges
    from cegdb.edge as e
    inner join cegdb.level as l on e.level_id = l.level_id
    group by e.tree_id, e.parent_id
)

select
    s.tree,
    s.vertex as situation,
    s.variable,
    [edge.label for edge in g.edges] as labels,
    [edge.n for edge in g.edges] as counts,
    len(g.edges) as n_edges,
    s.n,
    s.n_stopped,
    s.vertex_id
from grouped as g
inner join cegdb.event_tree as x on g.tree_id = x.tree_id
inner join cegdb.vertices as s on x.name = s.tree and g.parent_id = s.vertex_id;

create view plain.positions as
select
    c.name as ceg,
    if(
        p.stage_id is null,
        'w_inf',
        'w' || (
            row_number() over (
                partition by c.ceg_id, c.name
                order by p.stage_id is null, p.position_id
            ) - 1
        )
    ) as position,
    s.stage,
    s.variable,
    p.height,
    p.n,
    p.n_situations,
    s.colour,
    p.position_id,
    p.stage_id
from cegdb.position as p
inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
left join cegdb.staging as g on c.staging_id = g.staging_id
left join cegdb.stages as s on g.name = s.staging and p.stage_id = s.stage_id;

create view plain.ceg_edges as
select
    c.name as ceg,
    s.position as source,
    l.label,
    t.position as target,
    s.variable,
    e.n,
    e.weight,
    e.prior,
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
inner join cegdb.staging as g on c.staging_id = g.staging_id
inner join cegdb.event_tree as x on g.tree_id = x.tree_id
inner join cegdb.labels as l on x.survey_id = l.survey_id and e.label_id = l.label_id
inner join plain.positions as s on c.name = s.ceg and e.source_id = s.position_id
inner join plain.positions as t on c.name = t.ceg and e.target_id = t.position_id
inner join cegdb.stage_edge as p
    on g.staging_id = p.staging_id and s.stage_id = p.stage_id and e.label_id = p.label_id;

create view plain.situation_positions as
select
    c.name as ceg,
    s.situation,
    s.variable,
    s.path,
    p.stage,
    p.position,
    s.n,
    s.labels,
    s.vertex_id,
    p.stage_id,
    p.position_id
from cegdb.position_member as m
inner join cegdb.ceg as c on m.ceg_id = c.ceg_id
inner join cegdb.staging as g on c.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join plain.situations as s on t.name = s.tree and m.vertex_id = s.vertex_id
inner join plain.positions as p on c.name = p.ceg and m.position_id = p.position_id;

create view plain.staged_florets as
select
    g.name as staging,
    f.situation,
    s.stage,
    f.variable,
    f.labels,
    f.counts,
    f.n,
    s.colour,
    f.vertex_id,
    s.stage_id
from cegdb.stage_member as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join plain.florets as f on t.name = f.tree and m.vertex_id = f.vertex_id
inner join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id;

create view plain.staged_vertices as
select
    g.name as staging,
    v.vertex,
    v.variable,
    s.stage,
    s.colour,
    v.depth,
    v.height,
    v.n,
    v.weight,
    v.vertex_id,
    s.stage_id
from cegdb.staging as g
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.vertices as v on t.name = v.tree
left join cegdb.stage_member as m
    on g.staging_id = m.staging_id and v.vertex_id = m.vertex_id
left join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id;

-- No staging here has weights or design effects: counts are rows.
create view plain.staged_edges as
with total as (
    select
        tree_id,
        parent_id,
        sum(n) / 1 as n
    from cegdb.edge
    group by tree_id, parent_id
),

normal as (
    select
        tree_id,
        e.child_id,
        (e.n / k.n + 3.841458820694124 / (2 * k.n)) / (1 + 3.841458820694124 / k.n) as centre,
        sqrt(
            3.841458820694124 * (e.n / k.n) * (1 - e.n / k.n) / k.n
            + pow(3.841458820694124 / (2 * k.n), 2)
        ) / (1 + 3.841458820694124 / k.n) as half
    from cegdb.edge as e
    inner join total as k using (tree_id, parent_id)
)

select
    g.name as staging,
    e.source,
    e.label,
    e.target,
    e.variable,
    e.n,
    e.weight,
    p.share,
    p.probability,
    case
        when p.low is null or p.share is null then p.low
        when k.n = 0 or e.n = 0 then 0
        else least(p.probability, q.centre - q.half)
    end as low,
    case
        when p.low is null or p.share is null then p.high
        when k.n = 0 or e.n = k.n then 1
        else greatest(p.probability, q.centre + q.half)
    end as high,
    p.low as stage_low,
    p.high as stage_high,
    m.stage_id,
    e.parent_id,
    e.child_id,
    p.label_id
from cegdb.staging as g
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.tree_edges as e on t.name = e.tree
inner join total as k on t.tree_id = k.tree_id and e.parent_id = k.parent_id
inner join normal as q on t.tree_id = q.tree_id and e.child_id = q.child_id
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.stage_member as m
    on g.staging_id = m.staging_id and e.parent_id = m.vertex_id
left join cegdb.relabelled_edge as r
    on g.staging_id = r.staging_id and e.child_id = r.child_id
inner join cegdb.stage_edge as p
    on
        g.staging_id = p.staging_id
        and m.stage_id = p.stage_id
        and p.label_id = coalesce(r.label_id, l.label_id);

create view plain.merges as
select
    g.name as staging,
    m.step,
    k.vertex as kept,
    a.vertex as absorbed,
    k.variable,
    m.log_bayes_factor,
    m.kept_id,
    m.absorbed_id
from cegdb.ahc_merge as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.vertices as k on t.name = k.tree and m.kept_id = k.vertex_id
inner join cegdb.vertices as a on t.name = a.tree and m.absorbed_id = a.vertex_id;

create view plain.stage_pairs as
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
inner join plain.situations as v on t.name = v.tree and p.vertex_id = v.vertex_id
inner join plain.situations as o on t.name = o.tree and p.other_id = o.vertex_id;

create view plain.costagings as
select
    g.name as staging,
    v.variable,
    v.situation,
    v.path,
    o.situation as other,
    o.path as other_path,
    s.stage,
    u.stage as other_stage,
    m.stage_id = n.stage_id as is_together,
    p.probability,
    p.std_error,
    p.method,
    p.vertex_id,
    p.other_id
from cegdb.costaging as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.stage_member as m
    on p.staging_id = m.staging_id and p.vertex_id = m.vertex_id
inner join cegdb.stage_member as n
    on p.staging_id = n.staging_id and p.other_id = n.vertex_id
inner join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id
inner join cegdb.stages as u on g.name = u.staging and n.stage_id = u.stage_id
inner join plain.situations as v on t.name = v.tree and p.vertex_id = v.vertex_id
inner join plain.situations as o on t.name = o.tree and p.other_id = o.vertex_id;

create view plain.stage_stability as
with sided as (
    select
        staging_id,
        kind,
        vertex_id,
        other_id,
        is_together,
        n_together / nullif(n_runs, 0) as share
    from cegdb.situation_pair
    union all
    select
        staging_id,
        kind,
        other_id as vertex_id,
        vertex_id as other_id,
        is_together,
        n_together / nullif(n_runs, 0) as share
    from cegdb.situation_pair
),

staged as (
    select
        d.*,
        m.stage_id,
        o.stage_id as other_stage_id
    from sided as d
    inner join cegdb.stage_member as m
        on d.staging_id = m.staging_id and d.vertex_id = m.vertex_id
    inner join cegdb.stage_member as o
        on d.staging_id = o.staging_id and d.other_id = o.vertex_id
    where d.share is not null
),

inside as (
    select
        staging_id,
        kind,
        stage_id,
        list_sum(list_sort(list(share))) / count(*) as mean_share,
        min(share) as min_share
    from staged
    where is_together
    group by staging_id, kind, stage_id
),

outside as (
    select
        *,
        row_number() over (
            partition by staging_id, kind, stage_id
            order by share desc, other_id asc, vertex_id asc
        ) as place
    from staged
    where not is_together
)

select
    g.name as staging,
    b.kind,
    s.stage,
    s.variable,
    s.n_situations,
    b.n_runs,
    i.mean_share,
    i.min_share,
    x.share as max_share_outside,
    v.situation as outside,
    v.path as outside_path,
    u.stage as outside_stage,
    s.stage_id,
    x.other_id as outside_id
from cegdb.stage_bootstrap as b
inner join cegdb.staging as g on b.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.stages as s on g.name = s.staging and s.kind = 'learnt'
left join inside as i
    on b.staging_id = i.staging_id and b.kind = i.kind and s.stage_id = i.stage_id
left join outside as x
    on
        b.staging_id = x.staging_id
        and b.kind = x.kind
        and s.stage_id = x.stage_id
        and x.place = 1
left join cegdb.stages as u on g.name = u.staging and x.other_stage_id = u.stage_id
left join plain.situations as v on t.name = v.tree and x.other_id = v.vertex_id;

create view plain.bootstrap_intervals as
with answer as (
    select
        g.staging_id,
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
    window floret as (partition by g.staging_id, e.parent_id)
)

select
    g.name as staging,
    v.situation,
    v.path,
    s.stage,
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
    m.stage_id,
    b.label_id
from cegdb.bootstrap_interval as b
inner join cegdb.staging as g on b.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.stage_member as m
    on b.staging_id = m.staging_id and b.vertex_id = m.vertex_id
inner join cegdb.stage_edge as p
    on
        b.staging_id = p.staging_id
        and m.stage_id = p.stage_id
        and b.label_id = p.label_id
inner join answer as f
    on
        b.staging_id = f.staging_id
        and b.vertex_id = f.parent_id
        and b.label_id = f.label_id
inner join cegdb.labels as c on t.survey_id = c.survey_id and b.label_id = c.label_id
inner join cegdb.stages as s on g.name = s.staging and m.stage_id = s.stage_id
inner join plain.situations as v on t.name = v.tree and b.vertex_id = v.vertex_id;
