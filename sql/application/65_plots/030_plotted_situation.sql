-- step:    plotted_situation
-- mode:    create
-- purpose: The situations to plot: those with most people, as many as fit. Situations with a
--          hidden count are left out.
-- reads:   plotted_vertex
-- writes:  plotted_situation(vertex_id, situation, stage_id, n)
-- params:  variable VARCHAR, their variable; null for all
--          most BIGINT, how many fit
-- source:  serves the plots of situations, of co-staging and of merges (cegdb plot)
select
    v.vertex_id,
    v.vertex as situation,
    v.stage_id,
    v.n
from temp.plotted_vertex as v
where v.variable = coalesce($variable, v.variable) and v.n is not null
order by v.n desc, v.vertex_id asc
limit $most
