-- step:    path_situation
-- mode:    create
-- purpose: The situations that each path of the user matches; '*' matches any label. For each
--          pattern of wildcards in use, situations are compared under that pattern, so that the
--          join compares equal lists.
-- reads:   given_path, situation_path
-- writes:  path_situation(path_id, name, vertex_id)
-- params:  none
-- source:  serves stages, priors and hyperstages that a user gives by path
with pattern as (
    select distinct is_any
    from temp.given_path
)

select
    g.path_id,
    g.name,
    s.vertex_id
from temp.situation_path as s
inner join pattern as m on len(s.labels) = len(m.is_any)
inner join temp.given_path as g
    on
        g.labels = [if(m.is_any[i], '*', s.labels[i]) for i in range(1, len(s.labels) + 1)]
        and g.is_any = m.is_any
