-- step:    drift_size
-- mode:    fetch
-- purpose: Of how many stages of a staging made again the 95 % intervals before and after, of
--          the probability that moved most, are apart, and how many have both; how many
--          situations are new, and how many are gone.
-- reads:   stage_drift
-- writes:  drift_size(n_apart, n_stages, n_new, n_gone)
-- params:  staging_id INTEGER, the staging
-- source:  DESIGN 4
select
    count(*) filter (
        where low_after > high_before or high_after < low_before
    ) as n_apart,
    count(low_before + low_after) as n_stages,
    cast(coalesce(sum(n_situations) filter (where was is null), 0) as bigint) as n_new,
    cast(coalesce(sum(n_situations) filter (where stage_id is null), 0) as bigint) as n_gone
from cegdb.stage_drift
where staging_id = $staging_id
