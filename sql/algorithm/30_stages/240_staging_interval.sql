-- step:    staging_interval
-- mode:    append cegdb.bootstrap_interval
-- purpose: Percentile intervals for each situation and label, over replicates in each of which
--          the stages were learnt again, for situations reached in at least one replicate.
-- reads:   replicated_edge, situation_edge
-- writes:  bootstrap_interval(staging_id, vertex_id, label_id, low, high, level, n_runs, seed)
-- params:  staging_id INTEGER, the staging
--          level DOUBLE, share of the replicates within the interval
--          seed BIGINT, of the random numbers
-- source:  Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 13
select
    $staging_id as staging_id,
    e.vertex_id,
    e.label_id,
    r.low,
    r.high,
    $level as level,
    r.n_runs,
    $seed as seed
from temp.replicated_edge as r
inner join temp.situation_edge as e on r.child_id = e.child_id
where r.n_runs > 0
order by e.vertex_id, e.label_id
