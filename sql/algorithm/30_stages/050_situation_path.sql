-- step:    situation_path
-- mode:    append temp.situation_path
-- purpose: The labels from the root to each situation of one depth, as users write them.
-- reads:   situation_edge, floret, situation_path
-- writes:  situation_path(vertex_id, depth, labels)
-- params:  depth INTEGER, edges from the root; 0 is the root alone
-- source:  serves stages, priors and hyperstages that a user gives by path
select
    e.child_id as vertex_id,
    $depth as depth,
    list_append(p.labels, e.label) as labels
from temp.situation_path as p
inner join temp.situation_edge as e on p.vertex_id = e.vertex_id
inner join temp.floret as f on e.child_id = f.vertex_id
where p.depth = $depth - 1
union all
select
    f.vertex_id,
    0 as depth,
    cast([] as varchar[]) as labels
from temp.floret as f
where f.vertex_id = 0 and $depth = 0
