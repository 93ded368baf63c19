-- step:    stage_node
-- mode:    create
-- purpose: Number of people who reach each stage at each variable, and number of its situations
--          with a hidden count; -1 stands for people whose path ends. Stages of several
--          situations keep their colour.
-- reads:   plotted_vertex, plotted_column, stages
-- writes:  stage_node(node_id, column_index, name, colour, n, n_hidden)
-- params:  staging VARCHAR, the name of the staging
--          last BIGINT, the column of people whose path ends
-- source:  serves the plot of the flow through stages (cegdb plot)
select
    coalesce(v.stage_id, -1) as node_id,
    coalesce(p.column_index, $last) as column_index,
    min(coalesce(s.name, s.stage)) as name,
    min(if(s.n_situations > 1, s.colour, '#ffffff')) as colour,
    cast(coalesce(sum(v.n), 0) as bigint) as n,
    count(*) - count(v.n) as n_hidden
from temp.plotted_vertex as v
left join temp.plotted_column as p on v.variable = p.variable
left join cegdb.stages as s on s.staging = $staging and v.stage_id = s.stage_id
group by coalesce(v.stage_id, -1), p.column_index
