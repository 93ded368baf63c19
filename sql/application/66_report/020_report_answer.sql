-- step:    report_answer
-- mode:    fetch
-- purpose: Each answer of the stages to report, with its count (null if it is hidden at a
--          position), share, probability and interval, that of the stage.
-- reads:   ceg_edges, or masked_ceg_edges; ceg, position, reported_stage
-- writes:  report_answer(stage_id, label_id, label, n, share, probability, low, high)
-- params:  edges VARCHAR, the view of edges, such as cegdb.ceg_edges
--          ceg VARCHAR, the name of the CEG
-- source:  serves the reports in words (cegdb report text)
select
    p.stage_id,
    e.label_id,
    e.label,
    cast(if(count(*) = count(e.n), sum(e.n), null) as bigint) as n,
    max(e.share) as share,
    max(e.probability) as probability,
    max(e.stage_low) as low,
    max(e.stage_high) as high
from query_table($edges) as e
inner join cegdb.ceg as c on e.ceg = c.name
inner join cegdb.position as p on c.ceg_id = p.ceg_id and e.source_id = p.position_id
inner join temp.reported_stage as a on p.stage_id = a.stage_id
where e.ceg = $ceg
group by p.stage_id, e.label_id, e.label
order by p.stage_id, e.label_id
