-- step:    root_size
-- mode:    fetch
-- purpose: Number of respondents at the root, or their effective count.
-- reads:   situation_edge, edge_size
-- writes:  root_size(size)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering)
select cast(coalesce(sum(coalesce(z.size, e.n)), 0) as double) as size
from temp.situation_edge as e
left join temp.edge_size as z on e.child_id = z.child_id
where e.vertex_id = 0
