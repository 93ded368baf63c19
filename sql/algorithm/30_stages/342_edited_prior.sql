-- step:    edited_prior
-- mode:    create
-- purpose: The priors given for situations of a staging, which the edited one keeps. They are
--          copied first, since a staging that is replaced is dropped with its priors.
-- reads:   prior_entry
-- writes:  edited_prior(vertex_id, label, prior)
-- params:  staging_id INTEGER, the staging
-- source:  serves joining, splitting and renaming stages by hand
select
    vertex_id,
    label,
    prior
from cegdb.prior_entry
where staging_id = $staging_id
