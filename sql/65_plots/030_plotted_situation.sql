-- step:    plotted_situation
-- mode:    create
-- purpose: The situations to plot, most people first (hidden ones last), as far as there is
--          room.
-- reads:   plotted_vertex
-- writes:  plotted_situation(vertex_id, situation, stage_id, n)
-- params:  variable VARCHAR, what they ask; null for all
--          most BIGINT, how many there is room for
-- source:  serves the plots of situations, of co-staging and of merges (cegdb plot)
select
    v.vertex_id,
    v.vertex as situation,
    v.stage_id,
    v.n
from temp.plotted_vertex as v
where v.variable = coalesce($variable, v.variable)
order by v.n desc nulls last, v.vertex_id asc
limit $most
