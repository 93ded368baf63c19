-- step:    page_shown_edge
-- mode:    fetch
-- purpose: The edges of the positions that a page draws, in level order for each position.
-- reads:   page_ceg_edge, page_drawn, page_level
-- writes:  page_shown_edge(source_id, target_id, label_id, label, n, prior, share, probability,
--          low, high)
-- params:  none
-- source:  serves the page of a CEG (cegdb report page)
select
    e.source_id,
    e.target_id,
    e.label_id,
    e.label,
    e.n,
    e.prior,
    e.share,
    e.probability,
    e.low,
    e.high
from temp.page_ceg_edge as e
semi join temp.page_drawn as d on e.source_id = d.position_id
left join temp.page_level as l on e.variable = l.variable and e.label_id = l.label_id
order by e.source_id, l.level_index nulls last, e.label_id
