-- step:    stage_node
-- mode:    create
-- purpose: How many people reach each stage at each variable, and how many situations of it
--          are hidden; -1 are those who end.
-- reads:   plotted_vertex, plotted_place
-- writes:  stage_node(node_id, place, n, n_hidden)
-- params:  last BIGINT, the place of those who end
-- source:  serves the plot of the flow through stages (cegdb plot)
select
    coalesce(v.stage_id, -1) as node_id,
    coalesce(p.place, $last) as place,
    cast(coalesce(sum(v.n), 0) as bigint) as n,
    count(*) - count(v.n) as n_hidden
from temp.plotted_vertex as v
left join temp.plotted_place as p on v.variable = p.variable
group by coalesce(v.stage_id, -1), p.place
