-- step:    plotted_pair
-- mode:    fetch
-- purpose: In how many runs of a bootstrap two situations to plot were reached, and in how
--          many of these they were staged together.
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
