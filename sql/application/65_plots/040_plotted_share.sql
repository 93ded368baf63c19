-- step:    plotted_share
-- mode:    fetch
-- purpose: The shares of the answers in each situation to plot; null where hidden.
-- reads:   tree_edges, perhaps without small cells, plotted_situation, staged_edges
-- writes:  plotted_share(vertex_id, label_id, share)
-- params:  edges VARCHAR, the view of edges of the tree, such as cegdb.tree_edges
--          tree VARCHAR, the name of the tree
--          staging VARCHAR, the name of the staging
-- source:  serves the plot of situations (cegdb plot)
with tree_edge as materialized (
    select
        t.child_id,
        t.share
    from query_table($edges) as t
    where
        t.tree = $tree
        and t.parent_id in (
            select s.vertex_id
            from temp.plotted_situation as s
        )
)

select
    s.vertex_id,
    e.label_id,
    t.share
from temp.plotted_situation as s
inner join cegdb.staged_edges as e on e.staging = $staging and s.vertex_id = e.parent_id
inner join tree_edge as t on e.child_id = t.child_id
order by s.vertex_id, e.label_id
