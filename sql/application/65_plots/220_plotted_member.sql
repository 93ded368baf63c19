-- step:    plotted_member
-- mode:    fetch
-- purpose: The stage of each situation to plot, in one staging.
-- reads:   plotted_situation, stage_member
-- writes:  plotted_member(vertex_id, stage_id)
-- params:  staging_id INTEGER, the staging
-- source:  serves the plot of co-staging (cegdb plot)
select
    m.vertex_id,
    m.stage_id
from cegdb.stage_member as m
inner join temp.plotted_situation as s on m.vertex_id = s.vertex_id
where m.staging_id = $staging_id
order by m.vertex_id
