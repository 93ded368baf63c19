-- step:    plotted_share
-- mode:    fetch
-- purpose: The shares of the answers given in each situation to plot; null where hidden.
-- reads:   plotted_situation, plotted_tree_edge, staged_edges
-- writes:  plotted_share(vertex_id, label_id, label, share)
-- params:  staging VARCHAR, the name of the staging
-- source:  serves the plot of situations (cegdb plot)
select
    s.vertex_id,
    e.label_id,
    e.label,
    t.share
from temp.plotted_situation as s
inner join cegdb.staged_edges as e on e.staging = $staging and s.vertex_id = e.parent_id
inner join temp.plotted_tree_edge as t on e.child_id = t.child_id
order by s.vertex_id, e.label_id
