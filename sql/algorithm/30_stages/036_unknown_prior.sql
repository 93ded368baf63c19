-- step:    unknown_prior
-- mode:    fetch
-- purpose: The first prior given for a label that no edge of the situation has.
-- reads:   given_entry, situation_edge
-- writes:  unknown_prior(vertex_id, label)
-- params:  none
-- source:  serves priors given by the user (prior=)
select
    g.vertex_id,
    g.label
from temp.given_entry as g
left join temp.situation_edge as e on g.vertex_id = e.vertex_id and g.label = e.label
where e.child_id is null
order by g.vertex_id, g.label
limit 1
