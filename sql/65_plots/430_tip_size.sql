-- step:    tip_size
-- mode:    fetch
-- purpose: How many stages that merging started from are in each end of a dendrogram, and
--          the people in their first situations; null if those of some are hidden.
-- reads:   plotted_tip, plotted_vertex
-- writes:  tip_size(tip_id, n_situations, n)
-- params:  none
-- source:  serves the dendrogram (cegdb plot)
select
    t.tip_id,
    count(*) as n_situations,
    if(count(v.n) = count(*), cast(sum(v.n) as bigint), null) as n
from temp.plotted_tip as t
inner join temp.plotted_vertex as v on t.vertex_id = v.vertex_id
group by t.tip_id
order by t.tip_id
