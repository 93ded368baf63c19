-- step:    graph_edge
-- mode:    append cegdb.ceg_edge
-- purpose: The edges of the CEG, with their prior, the probability of the stage, an interval,
--          and the tree's own labels behind each label. A position that is a whole stage takes
--          its count, weight, prior and interval from the stage; so does one whose stage
--          nobody reached its interval. Where stages have a prior of their own, a position has
--          the part of its situations.
-- reads:   position_edge, position_share, position_prior, position_floret, position_interval,
--          stage, stage_edge, level, raw_label
-- writes:  ceg_edge(ceg_id, source_id, target_id, label_id, raw_labels, n, weight, prior,
--          probability, low, high)
-- params:  ceg_id INTEGER, the CEG
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3; docs/theory.md, section 17 (Uncertainty of
--          answers)
select
    $ceg_id as ceg_id,
    e.source_id,
    e.target_id,
    e.label_id,
    coalesce(r.labels, [l.label]) as raw_labels,
    if(e.is_whole_stage, g.n, e.n) as n,
    if(e.is_whole_stage, g.weight, e.weight) as weight,
    if(
        e.is_whole_stage,
        g.prior,
        coalesce(a.prior, s.share, g.prior * f.n_situations / t.n_situations)
    ) as prior,
    g.probability,
    case
        when g.low is null or e.is_whole_stage or g.share is null then g.low
        else i.low
    end as low,
    case
        when g.low is null or e.is_whole_stage or g.share is null then g.high
        else i.high
    end as high
from temp.position_edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.stage_edge as g
    on g.staging_id = $staging_id and e.stage_id = g.stage_id and e.label_id = g.label_id
inner join cegdb.stage as t on t.staging_id = $staging_id and e.stage_id = t.stage_id
inner join temp.position_floret as f on e.source_id = f.position_id
left join temp.position_share as s on e.source_id = s.position_id
left join temp.position_prior as a
    on e.source_id = a.position_id and e.label_id = a.label_id
left join temp.position_interval as i
    on e.source_id = i.position_id and e.label_id = i.label_id
left join temp.raw_label as r on e.source_id = r.position_id and e.label_id = r.label_id
order by e.source_id, e.label_id
