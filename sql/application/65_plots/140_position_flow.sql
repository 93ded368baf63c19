-- step:    position_flow
-- mode:    create
-- purpose: Number of people who take each answer from one position to another, and whether it
--          is hidden.
-- reads:   ceg_edges, perhaps without small cells, plotted_position
-- writes:  position_flow(source_id, source_column, target_id, target_column, label, n, n_hidden)
-- params:  edges VARCHAR, the view of edges, such as cegdb.ceg_edges
--          ceg VARCHAR, the name of the CEG
-- source:  serves the plot of the flow through positions (cegdb plot)
select
    s.node_id as source_id,
    s.column_index as source_column,
    t.node_id as target_id,
    t.column_index as target_column,
    e.label,
    coalesce(e.n, 0) as n,
    if(e.n is null, 1, 0) as n_hidden
from query_table($edges) as e
inner join temp.plotted_position as s on e.source_id = s.position_id
inner join temp.plotted_position as t on e.target_id = t.position_id
where e.ceg = $ceg
