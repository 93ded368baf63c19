-- step:    drift_size
-- mode:    fetch
-- purpose: For the summary of a rebuilt staging: how many former stages have an answer whose 95
--          % intervals before and now do not overlap, out of how many that can be compared; how
--          many situations are new, and how many are gone.
-- reads:   stage_drift
-- writes:  drift_size(n_apart, n_stages, n_new, n_gone)
-- params:  staging_id INTEGER, the staging
-- source:  serves the drift of stages after new rows (cegdb rebuild)
select
    count(distinct former_stage) filter (where is_disjoint) as n_apart,
    count(distinct former_stage) filter (where is_disjoint is not null) as n_stages,
    cast(coalesce(sum(n_situations) filter (where former_stage is null), 0) as bigint) as n_new,
    cast(coalesce(sum(n_situations) filter (where stage_id is null), 0) as bigint) as n_gone
from cegdb.stage_drift
where staging_id = $staging_id
