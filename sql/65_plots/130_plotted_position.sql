-- step:    plotted_position
-- mode:    create
-- purpose: How many people reach each position, at the last variable that a situation of it
--          asks, so that every edge leads onwards; -1 are those who end.
-- reads:   plotted_vertex, plotted_place, position_member, vertex, variable
-- writes:  plotted_position(position_id, node_id, place, n, n_hidden)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          last BIGINT, the place of those who end
-- source:  serves the plot of the flow through positions (cegdb plot)
with placed as (
    select
        m.position_id,
        max(p.place) as place
    from cegdb.position_member as m
    inner join cegdb.vertex as v on v.tree_id = $tree_id and m.vertex_id = v.vertex_id
    inner join cegdb.variable as q on v.variable_id = q.variable_id
    inner join temp.plotted_place as p on q.name = p.variable
    where m.ceg_id = $ceg_id
    group by m.position_id
)

select
    v.position_id,
    if(v.stage_id is null, -1, v.position_id) as node_id,
    coalesce(l.place, $last) as place,
    coalesce(v.n, 0) as n,
    if(v.n is null, 1, 0) as n_hidden
from temp.plotted_vertex as v
left join placed as l on v.position_id = l.position_id
