-- step:    dendrogram_leaf
-- mode:    create
-- purpose: The leaves of a dendrogram: the first situation of each, the number of starting
--          stages it contains, and the people in the first situations of these; null if one of
--          their counts is hidden.
-- reads:   leaf_member, plotted_vertex
-- writes:  dendrogram_leaf(vertex_id, situation, stage_id, n, n_situations)
-- params:  none
-- source:  serves the dendrogram (cegdb plot)
select
    f.vertex_id,
    f.vertex as situation,
    f.stage_id,
    if(count(v.n) = count(*), cast(sum(v.n) as bigint), null) as n,
    count(*) as n_situations
from temp.leaf_member as m
inner join temp.plotted_vertex as v on m.vertex_id = v.vertex_id
inner join temp.plotted_vertex as f on m.leaf_id = f.vertex_id
group by f.vertex_id, f.vertex, f.stage_id
