-- step:    stage_flow
-- mode:    create
-- purpose: Number of people who take each answer from one stage to another, and number of
--          situations among these with a hidden count. A stage is one node per variable; -1
--          stands for people whose path ends.
-- reads:   plotted_vertex, plotted_edge, plotted_column
-- writes:  stage_flow(source_id, source_column, target_id, target_column, label, n, n_hidden)
-- params:  last BIGINT, the column of people whose path ends
-- source:  serves the plot of the flow through stages (cegdb plot)
select
    e.stage_id as source_id,
    p.column_index as source_column,
    coalesce(t.stage_id, -1) as target_id,
    coalesce(q.column_index, $last) as target_column,
    e.label,
    cast(coalesce(sum(e.n), 0) as bigint) as n,
    count(*) - count(e.n) as n_hidden
from temp.plotted_edge as e
inner join temp.plotted_vertex as t on e.child_id = t.vertex_id
inner join temp.plotted_column as p on e.variable = p.variable
left join temp.plotted_column as q on t.variable = q.variable
group by e.stage_id, p.column_index, coalesce(t.stage_id, -1), q.column_index, e.label
