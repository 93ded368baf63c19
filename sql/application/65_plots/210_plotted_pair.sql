-- step:    plotted_pair
-- mode:    fetch
-- purpose: Number of bootstrap replicates that reached both of two situations to plot, and
--          number of those in which they shared a stage.
-- reads:   plotted_situation, stage_pairs
-- writes:  plotted_pair(vertex_id, other_id, n_runs, n_together)
-- params:  staging VARCHAR, the name of the staging
--          kind VARCHAR, of the bootstrap
-- source:  serves the plot of co-staging (cegdb plot)
select
    p.vertex_id,
    p.other_id,
    p.n_runs,
    p.n_together
from cegdb.stage_pairs as p
inner join temp.plotted_situation as a on p.vertex_id = a.vertex_id
inner join temp.plotted_situation as b on p.other_id = b.vertex_id
where p.staging = $staging and p.kind = $kind
order by p.vertex_id, p.other_id
