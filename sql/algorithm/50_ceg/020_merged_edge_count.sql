-- step:    merged_edge_count
-- mode:    fetch
-- purpose: Number of edges that merging removed at each height: those of all situations but the
--          first of each position.
-- reads:   position_floret
-- writes:  merged_edge_count(height, n_edges)
-- params:  none
-- source:  docs/theory.md, section 4 (Sizes of trees and graphs)
select
    height,
    cast(sum((n_situations - 1) * n_edges) as bigint) as n_edges
from temp.position_floret
group by height
order by height
