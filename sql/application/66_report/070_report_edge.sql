-- step:    report_edge
-- mode:    fetch
-- purpose: The edges of the positions to report, with their targets.
-- reads:   ceg_edges, or masked_ceg_edges; reported_position
-- writes:  report_edge(source_id, label, target, n, probability)
-- params:  edges VARCHAR, the view of edges, such as cegdb.ceg_edges
--          ceg VARCHAR, the name of the CEG
-- source:  serves the analyst's report
select
    e.source_id,
    e.label,
    e.target,
    e.n,
    e.probability
from query_table($edges) as e
inner join temp.reported_position as a on e.source_id = a.position_id
where e.ceg = $ceg
order by e.source_id, e.label_id, e.target_id
