-- step:    position_share
-- mode:    append temp.position_share
-- purpose: The prior mass of each edge of the positions of one height, when alpha is divided
--          from the root down, equally within each floret: the mass that reaches a position,
--          divided by its number of edges. Terms are added in sorted order, so that the sum
--          does not depend on threads. Positions of height 1 that are whole stages are left
--          out: they have the prior of their stage, and only the sink is below.
-- reads:   position_floret, position_edge, position_share
-- writes:  position_share(position_id, share)
-- params:  height INTEGER, edges to the sink on the longest path; the root's comes first
--          alpha DOUBLE, prior mass of the root
-- source:  Freeman & Smith (2011); docs/theory.md, section 6 (Scores and clustering)
select
    f.position_id,
    coalesce(list_sum(list_sort(list(s.share))), $alpha) / f.n_edges as share
from temp.position_floret as f
left join temp.position_edge as e on f.position_id = e.target_id
left join temp.position_share as s on e.source_id = s.position_id
where f.height = $height and (f.height > 1 or not f.is_whole_stage)
group by f.position_id, f.n_edges
