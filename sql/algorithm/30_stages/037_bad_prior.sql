-- step:    bad_prior
-- mode:    fetch
-- purpose: The first prior given that is not a number above 0.
-- reads:   given_entry
-- writes:  bad_prior(vertex_id, label, prior)
-- params:  largest DOUBLE, the largest number that is allowed
-- source:  serves priors given by the user (prior=)
select
    g.vertex_id,
    g.label,
    g.prior
from temp.given_entry as g
where not coalesce(g.prior > 0 and g.prior <= $largest, false)
order by g.vertex_id, g.label
limit 1
