-- step:    merged_edge
-- mode:    fetch
-- purpose: How many edges each height's merge took out of the graph: those of the
--          situations that are not the first of their position.
-- reads:   staged_edge, position_of
-- writes:  merged_edge(height, n_edges)
-- params:  none
-- source:  SPEC 4
select
    e.height,
    count(*) as n_edges
from temp.staged_edge as e
inner join temp.position_of as p on e.vertex_id = p.vertex_id
where p.vertex_id <> p.position_id
group by e.height
order by e.height
