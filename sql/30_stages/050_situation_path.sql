-- step:    situation_path
-- mode:    append temp.situation_path
-- purpose: The labels from the root to each situation, to find those a user names.
-- reads:   situation_edge, floret, situation_path
-- writes:  situation_path(vertex_id, depth, labels)
-- params:  depth INTEGER, edges from the root, >= 1
-- source:  serves stages, priors and hyperstages that a user gives by path
select
    e.child_id as vertex_id,
    $depth as depth,
    list_append(p.labels, e.label) as labels
from temp.situation_path as p
inner join temp.situation_edge as e on p.vertex_id = e.vertex_id
inner join temp.floret as f on e.child_id = f.vertex_id
where p.depth = $depth - 1
