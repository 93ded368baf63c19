-- step:    plotted_edge
-- mode:    create
-- purpose: The edges of the vertices to plot, with the intervals of their stages.
-- reads:   staged_edges, perhaps without small cells, plotted_vertex
-- writes:  plotted_edge(stage_id, child_id, variable, label_id, label, n, probability, low,
--          high)
-- params:  edges VARCHAR, the view of edges, such as cegdb.staged_edges
--          staging VARCHAR, the name of the staging
-- source:  serves the plots (cegdb plot)
select
    e.stage_id,
    e.child_id,
    e.variable,
    e.label_id,
    e.label,
    e.n,
    e.probability,
    e.stage_low as low,
    e.stage_high as high
from query_table($edges) as e
where
    e.staging = $staging
    and e.stage_id in (
        select v.stage_id
        from temp.plotted_vertex as v
    )
