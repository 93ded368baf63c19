-- step:    hidden_hyperstage
-- mode:    fetch
-- purpose: The hyperstages with at least one hidden count.
-- reads:   plotted_vertex, plotted_edge, stages
-- writes:  hidden_hyperstage(hyperstage_id)
-- params:  staging VARCHAR, the name of the staging
-- source:  serves the plots of merges and the dendrogram (cegdb plot)
select distinct s.hyperstage_id
from cegdb.stages as s
where
    s.staging = $staging
    and s.stage_id in (
        select v.stage_id
        from temp.plotted_vertex as v
        where v.n is null
        union all
        select e.stage_id
        from temp.plotted_edge as e
        where e.n is null
    )
