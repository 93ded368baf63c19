-- step:    relabel_reach
-- mode:    fetch
-- purpose: How far the path of a relabelling rule can be followed in the tree, and the first
--          vertex reached, for messages.
-- reads:   relabel_vertex
-- writes:  relabel_reach(depth, vertex_id)
-- params:  rule_id INTEGER, the rule
-- source:  serves error messages about trees and stagings
select
    depth,
    min(vertex_id) as vertex_id
from temp.relabel_vertex
where rule_id = $rule_id
group by depth
order by depth desc
limit 1
