-- step:    recorded_predictive_prior
-- mode:    create
-- purpose: The priors of the stages of a staging that nobody reached, where they were predicted.
-- reads:   staging, stage, stage_edge
-- writes:  recorded_predictive_prior(stage_id, label_id, prior)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
select
    e.stage_id,
    e.label_id,
    e.prior
from cegdb.staging as g
inner join cegdb.stage as s on g.staging_id = s.staging_id
inner join cegdb.stage_edge as e on s.staging_id = e.staging_id and s.stage_id = e.stage_id
where
    g.staging_id = $staging_id
    and s.kind = 'unobserved'
    and (g.settings ->> 'unobserved') = 'predictive'
