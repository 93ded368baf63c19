-- step:    plotted_stage
-- mode:    fetch
-- purpose: The stages of the vertices to plot, with their count; null if that of one of its
--          situations is hidden.
-- reads:   plotted_vertex, stages
-- writes:  plotted_stage(stage_id, stage, name, kind, colour, n_situations, n)
-- params:  staging VARCHAR, the name of the staging
-- source:  serves the plot of stage probabilities (cegdb plot)
select
    s.stage_id,
    s.stage,
    s.name,
    s.kind,
    s.colour,
    s.n_situations,
    if(count(v.n) = count(*), cast(sum(v.n) as bigint), null) as n
from cegdb.stages as s
inner join temp.plotted_vertex as v on s.stage_id = v.stage_id
where s.staging = $staging
group by s.stage_id, s.stage, s.name, s.kind, s.colour, s.n_situations
order by s.stage_id
