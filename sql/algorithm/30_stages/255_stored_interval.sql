-- step:    stored_interval
-- mode:    create
-- purpose: The bootstrap intervals of a staging, in the form of its other intervals.
-- reads:   bootstrap_intervals
-- writes:  stored_interval(vertex_id, label_id, staging, stage, situation, path, variable, label,
--          n, weight, share, probability, low, high, method, level, given)
-- params:  staging VARCHAR, its name
-- source:  Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 13
select
    i.vertex_id,
    i.label_id,
    i.staging,
    i.stage,
    i.situation,
    i.path,
    i.variable,
    i.label,
    i.n,
    cast(i.weight as double) as weight,
    i.share,
    i.probability,
    i.low,
    i.high,
    'bootstrap' as method,
    i.level,
    'relearns the stages' as given
from cegdb.bootstrap_intervals as i
where i.staging = $staging
