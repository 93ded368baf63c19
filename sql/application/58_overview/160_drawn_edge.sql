-- step:    drawn_edge
-- mode:    create
-- purpose: The edges of a CEG that an overview draws as themselves, as in the view ceg_edges,
--          with the node each leads to.
-- reads:   ceg_edges or masked_ceg_edges, node_edge
-- writes:  drawn_edge(ceg, source, label, target, variable, n, weight, prior, share,
--          probability, low, high, raw_labels, source_id, target_id, label_id, target_node)
-- params:  edges VARCHAR, the relation to read, such as cegdb.ceg_edges
--          ceg VARCHAR, the name of the CEG
-- source:  serves the overview of large graphs (cegdb draw)
select
    e.ceg,
    e.source,
    e.label,
    e.target,
    e.variable,
    e.n,
    e.weight,
    e.prior,
    e.share,
    e.probability,
    e.low,
    e.high,
    e.raw_labels,
    e.source_id,
    e.target_id,
    e.label_id,
    d.target_node
from query_table($edges) as e
inner join temp.node_edge as d on e.source_id = d.source_id and e.label_id = d.label_id
where e.ceg = $ceg and d.n_edges = 1 and d.source_node >= 0
