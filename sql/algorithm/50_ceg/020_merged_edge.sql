-- step:    merged_edge
-- mode:    fetch
-- purpose: How many edges each height's merge took out of the graph: those of the
--          situations that are not the first of their position.
-- reads:   position_floret
-- writes:  merged_edge(height, n_edges)
-- params:  none
-- source:  docs/theory.md, section 4 (Sizes of trees and graphs)
select
    height,
    cast(sum((n_situations - 1) * n_edges) as bigint) as n_edges
from temp.position_floret
group by height
order by height
