-- step:    position_share
-- mode:    append temp.position_share
-- purpose: The prior of each edge of the positions of one height where alpha is shared out
--          from the root on, equally in each floret: what reaches a position, over its
--          edges. Added in sorted order so that the sum does not depend on threads. Whole
--          stages of height 1 need none: theirs is the stage's, and below is the sink.
-- reads:   position_floret, position_edge, position_share
-- writes:  position_share(position_id, share)
-- params:  height INTEGER, edges to the sink on the longest path, from the root's down
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
