-- step:    prior_floret
-- mode:    fetch
-- purpose: The situations whose prior was given by path, with its text (JSON) and the labels
--          that it must have, in level order.
-- reads:   given_group, situation_edge
-- writes:  prior_floret(vertex_id, prior, labels)
-- params:  none
-- source:  serves priors given by the user (prior=)
select
    g.vertex_id,
    g.name as prior,
    list(e.label order by e.child_id) as labels
from temp.given_group as g
inner join temp.situation_edge as e on g.vertex_id = e.vertex_id
where g.role = 'prior'
group by g.vertex_id, g.name
order by g.vertex_id
