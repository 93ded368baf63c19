-- step:    stage_flow
-- mode:    create
-- purpose: How many people take an answer from one stage to another, and how many situations
--          of them are hidden. A stage is one node a variable; -1 are those who end.
-- reads:   plotted_vertex, plotted_edge, plotted_place
-- writes:  stage_flow(source_id, source_place, target_id, target_place, label, n, n_hidden)
-- params:  last BIGINT, the place of those who end
-- source:  serves the plot of the flow through stages (cegdb plot)
select
    e.stage_id as source_id,
    p.place as source_place,
    coalesce(t.stage_id, -1) as target_id,
    coalesce(q.place, $last) as target_place,
    e.label,
    cast(coalesce(sum(e.n), 0) as bigint) as n,
    count(*) - count(e.n) as n_hidden
from temp.plotted_edge as e
inner join temp.plotted_vertex as t on e.child_id = t.vertex_id
inner join temp.plotted_place as p on e.variable = p.variable
left join temp.plotted_place as q on t.variable = q.variable
group by e.stage_id, p.place, coalesce(t.stage_id, -1), q.place, e.label
