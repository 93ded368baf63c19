-- One row an edge of a staged tree; n of the situation itself; share = n / total (weighted where
-- the survey is), probability = posterior mean and its 95 % interval low to high, given the
-- staging, of its stage. label
-- is the answer in the tree, label_id that of its label in the stage (stage_edges), which is
-- another where the staging relabels the edge.
create view cegdb.staged_edges as
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
)

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
    p.low,
    p.high,
    p.stage_id,
    e.parent_id,
    e.child_id,
    p.label_id
from cegdb.staging as g
inner join cegdb.edge as e on g.tree_id = e.tree_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on g.staging_id = r.staging_id and e.child_id = r.child_id
inner join named as s on g.name = s.staging and e.parent_id = s.vertex_id
inner join named as t on g.name = t.staging and e.child_id = t.vertex_id
left join cegdb.variable as q on s.variable_id = q.variable_id
inner join staged as p
    on
        g.name = p.staging
        and e.parent_id = p.vertex_id
        and p.label_id = coalesce(r.label_id, l.label_id);
