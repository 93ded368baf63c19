-- step:    group_overlap
-- mode:    fetch
-- purpose: The first situation that belongs to two groups of one kind.
-- reads:   given_group
-- writes:  group_overlap(vertex_id, name, other_name)
-- params:  role VARCHAR, the kind: stage, frozen, initial, hyperstage or prior
-- source:  serves stages, priors and hyperstages given by the user
select
    vertex_id,
    min(name) as name,
    max(name) as other_name
from temp.given_group
where role = $role
group by vertex_id
having min(name) <> max(name)
order by vertex_id
limit 1
