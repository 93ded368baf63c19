-- step:    named_situation
-- mode:    create
-- purpose: The situations that each path given by a user fits, '*' fitting any label.
-- reads:   given_path, given_mask, situation_path
-- writes:  named_situation(path_id, name, vertex_id)
-- params:  none
-- source:  serves stages, priors and hyperstages that a user gives by path
select
    g.path_id,
    g.name,
    s.vertex_id
from temp.situation_path as s
inner join temp.given_mask as m on len(s.labels) = len(m.is_any)
inner join temp.given_path as g
    on
        g.labels = [if(m.is_any[i], '*', s.labels[i]) for i in range(1, len(s.labels) + 1)]
        and g.is_any = m.is_any
