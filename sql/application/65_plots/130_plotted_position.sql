-- step:    plotted_position
-- mode:    create
-- purpose: Number of people who reach each position, placed at the last variable of its
--          situations, so that every edge leads forwards; -1 stands for people whose path ends.
--          A position whose stage has several situations takes its colour.
-- reads:   positions, perhaps without small cells, plotted_column, position_member, vertex,
--          variable
-- writes:  plotted_position(position_id, node_id, column_index, name, colour, n, n_hidden)
-- params:  positions VARCHAR, the view of positions, such as cegdb.positions
--          ceg VARCHAR, the name of the CEG
--          ceg_id INTEGER, its id
--          tree_id INTEGER, its tree
--          last BIGINT, the column of people whose path ends
-- source:  serves the plot of the flow through positions (cegdb plot)
with last_column as (
    select
        m.position_id,
        max(p.column_index) as column_index
    from cegdb.position_member as m
    inner join cegdb.vertex as v on v.tree_id = $tree_id and m.vertex_id = v.vertex_id
    inner join cegdb.variable as q on v.variable_id = q.variable_id
    inner join temp.plotted_column as p on q.name = p.variable
    where m.ceg_id = $ceg_id
    group by m.position_id
)

select
    v.position_id,
    if(v.stage_id is null, -1, v.position_id) as node_id,
    coalesce(l.column_index, $last) as column_index,
    v.position as name,
    if(
        v.n_situations > 1 or count(*) over (partition by v.stage_id) > 1,
        v.colour,
        '#ffffff'
    ) as colour,
    coalesce(v.n, 0) as n,
    if(v.n is null, 1, 0) as n_hidden
from query_table($positions) as v
left join last_column as l on v.position_id = l.position_id
where v.ceg = $ceg
