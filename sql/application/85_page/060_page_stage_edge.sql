-- step:    page_stage_edge
-- mode:    fetch
-- purpose: The probabilities of each stage of a CEG, from the edges of its positions, in level
--          order. The count n is null if it is hidden at one of them.
-- reads:   page_position, page_ceg_edge, page_level
-- writes:  page_stage_edge(stage_id, label_id, label, n, share, probability, low, high)
-- params:  none
-- source:  serves the page of a CEG (cegdb report page)
select
    p.stage_id,
    e.label_id,
    min(e.label) as label,
    cast(if(count(e.n) = count(*), sum(e.n), null) as bigint) as n,
    min(e.share) as share,
    min(e.probability) as probability,
    min(e.stage_low) as low,
    min(e.stage_high) as high
from temp.page_ceg_edge as e
inner join temp.page_position as p on e.source_id = p.position_id
left join temp.page_level as l on p.variable = l.variable and e.label_id = l.label_id
group by p.stage_id, e.label_id
order by p.stage_id, min(l.level_index) nulls last, e.label_id
