-- step:    position_flow
-- mode:    create
-- purpose: How many people take an answer from one position to another, and whether that is
--          hidden.
-- reads:   plotted_position, plotted_edge
-- writes:  position_flow(source_id, source_place, target_id, target_place, label, n, n_hidden)
-- params:  none
-- source:  serves the plot of the flow through positions (cegdb plot)
select
    s.node_id as source_id,
    s.place as source_place,
    t.node_id as target_id,
    t.place as target_place,
    e.label,
    coalesce(e.n, 0) as n,
    if(e.n is null, 1, 0) as n_hidden
from temp.plotted_edge as e
inner join temp.plotted_position as s on e.source_id = s.position_id
inner join temp.plotted_position as t on e.target_id = t.position_id
