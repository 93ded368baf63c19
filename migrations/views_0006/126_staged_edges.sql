-- One row an edge of a staged tree; n of the situation itself; share = n / total (weighted where
-- the survey is), probability = posterior mean and its 95 % interval low to high, given the
-- staging, of its stage. label
-- is the answer in the tree, label_id that of its label in the stage (stage_edges), which is
-- another where the staging relabels the edge.
create view cegdb.staged_edges as
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
    p.low,
    p.high,
    m.stage_id,
    e.parent_id,
    e.child_id,
    p.label_id
from cegdb.staging as g
inner join cegdb.event_tree as t on g.tree_id = t.tree_id
inner join cegdb.tree_edges as e on t.name = e.tree
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
