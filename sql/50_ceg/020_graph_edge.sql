-- step:    graph_edge
-- mode:    append cegdb.ceg_edge
-- purpose: The edges of the CEG: those of the situations of each position, put together by
--          label (so parallel edges stay apart), with the probability of the stage.
-- reads:   position_of, position_mass, edge, level, stage_member, stage_edge
-- writes:  ceg_edge(ceg_id, source_id, target_id, label_id, raw_labels, n, weight, prior,
--          probability)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3
with merged as (
    select
        s.position_id as source_id,
        t.position_id as target_id,
        l.label_id,
        min(l.label) as label,
        cast(sum(e.n) as bigint) as n,
        sum(e.weight) as weight
    from cegdb.edge as e
    inner join temp.position_of as s on e.parent_id = s.vertex_id
    inner join temp.position_of as t on e.child_id = t.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
    where e.tree_id = $tree_id
    group by s.position_id, t.position_id, l.label_id
)

select
    $ceg_id as ceg_id,
    m.source_id,
    m.target_id,
    m.label_id,
    [m.label] as raw_labels,
    m.n,
    m.weight,
    w.prior,
    g.probability
from merged as m
inner join temp.position_mass as w on m.source_id = w.position_id
inner join cegdb.stage_member as x
    on x.staging_id = $staging_id and m.source_id = x.vertex_id
inner join cegdb.stage_edge as g
    on g.staging_id = $staging_id and x.stage_id = g.stage_id and m.label_id = g.label_id
order by m.source_id, m.label_id, m.target_id
