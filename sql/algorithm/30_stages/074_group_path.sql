-- step:    group_path
-- mode:    fetch
-- purpose: The given groups of one kind, by the paths of their situations, for the settings of
--          the staging.
-- reads:   given_group, situation_path
-- writes:  group_path(name, labels)
-- params:  role VARCHAR, the kind: frozen, initial or hyperstage
-- source:  serves cegdb rebuild, which gives the same groups again
select
    g.name,
    p.labels
from temp.given_group as g
inner join temp.situation_path as p on g.vertex_id = p.vertex_id
where g.role = $role
order by p.vertex_id
