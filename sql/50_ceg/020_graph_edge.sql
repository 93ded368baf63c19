-- step:    graph_edge
-- mode:    append cegdb.ceg_edge
-- purpose: The edges of the CEG: those of the situations of each position, put together by
--          label (so parallel edges stay apart), with the probability of the stage.
-- reads:   staged_edge, position_of, position_mass, level, stage_edge
-- writes:  ceg_edge(ceg_id, source_id, target_id, label_id, raw_labels, n, weight, prior,
--          probability)
-- params:  ceg_id INTEGER, the CEG
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3
with merged as (
    select
        s.position_id as source_id,
        t.position_id as target_id,
        e.stage_id,
        e.label_id,
        list_sort(list(distinct l.label)) as raw_labels,
        cast(sum(e.n) as bigint) as n,
        sum(e.weight) as weight
    from temp.staged_edge as e
    inner join temp.position_of as s on e.vertex_id = s.vertex_id
    inner join temp.position_of as t on e.child_id = t.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
    group by s.position_id, t.position_id, e.stage_id, e.label_id
)

select
    $ceg_id as ceg_id,
    m.source_id,
    m.target_id,
    m.label_id,
    m.raw_labels,
    m.n,
    m.weight,
    w.prior,
    g.probability
from merged as m
inner join temp.position_mass as w
    on m.source_id = w.position_id and m.label_id = w.label_id
inner join cegdb.stage_edge as g
    on g.staging_id = $staging_id and m.stage_id = g.stage_id and m.label_id = g.label_id
order by m.source_id, m.label_id, m.target_id
