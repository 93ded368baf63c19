-- step:    staging_prior
-- mode:    append cegdb.prior_entry
-- purpose: The priors of the edges of situations for which the user gave priors.
-- reads:   given_entry, situation_edge
-- writes:  prior_entry(staging_id, child_id, vertex_id, label, prior)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          serves priors given by the user (prior=)
select
    $staging_id as staging_id,
    e.child_id,
    e.vertex_id,
    e.label,
    g.prior
from temp.given_entry as g
inner join temp.situation_edge as e on g.vertex_id = e.vertex_id and g.label = e.label
order by e.child_id
