-- step:    page_ceg_edge
-- mode:    create
-- purpose: The edges of a CEG, with small cells hidden if requested.
-- reads:   ceg_edges, or masked_ceg_edges
-- writes:  page_ceg_edge(source_id, source, target_id, target, variable, label_id, label, n,
--          prior, share, probability, low, high, stage_low, stage_high)
-- params:  edges VARCHAR, the view of edges, such as cegdb.ceg_edges
--          ceg VARCHAR, the name of the CEG
-- source:  serves the page of a CEG (cegdb report page)
select
    e.source_id,
    e.source,
    e.target_id,
    e.target,
    e.variable,
    e.label_id,
    e.label,
    e.n,
    e.prior,
    e.share,
    e.probability,
    e.low,
    e.high,
    e.stage_low,
    e.stage_high
from query_table($edges) as e
where e.ceg = $ceg
