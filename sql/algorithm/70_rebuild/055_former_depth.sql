-- step:    former_depth
-- mode:    fetch
-- purpose: The first and the last situation of each depth of the former tree.
-- reads:   former_vertex
-- writes:  former_depth(low, high)
-- params:  none
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    min(vertex_id) as low,
    max(vertex_id) as high
from temp.former_vertex
group by depth
order by depth
