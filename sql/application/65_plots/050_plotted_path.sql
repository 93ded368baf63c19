-- step:    plotted_path
-- mode:    fetch
-- purpose: The answers that lead to each situation to plot, starting at the root.
-- reads:   plotted_situation, edge, level
-- writes:  plotted_path(vertex_id, label)
-- params:  tree_id INTEGER, the tree
-- source:  serves the plots of situations, of co-staging and of merges (cegdb plot)
with recursive up as (
    select
        vertex_id,
        vertex_id as ancestor_id,
        cast(null as bigint) as level_id,
        0 as step
    from temp.plotted_situation
    union all
    select
        u.vertex_id,
        e.parent_id as ancestor_id,
        e.level_id,
        u.step - 1 as step
    from up as u
    inner join cegdb.edge as e on e.tree_id = $tree_id and u.ancestor_id = e.child_id
)

select
    u.vertex_id,
    l.label
from up as u
inner join cegdb.level as l on u.level_id = l.level_id
order by u.vertex_id, u.step
