-- One row an edge of a CEG; parallel edges differ by label. n = rows that took it from any
-- situation of its source; share = n / total (weighted where the survey is), probability =
-- posterior mean and its 95 % interval low to high, given the staging, of the source's stage.
-- In a CEG given evidence probability = given all of it; prior, share, low and high are null.
create view cegdb.ceg_edges as
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
    p.low,
    p.high,
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
