-- step:    staging_edge
-- mode:    append cegdb.stage_edge
-- purpose: The probability vector of each stage, with 95 % intervals.
-- reads:   stage_estimate, stage_interval
-- writes:  stage_edge(staging_id, stage_id, label_id, prior, n, weight, share, probability,
--          low, high)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          docs/theory.md, section 17 (Uncertainty of answers)
select
    $staging_id as staging_id,
    e.stage_id,
    e.label_id,
    e.prior,
    e.n,
    e.weight,
    e.share,
    e.probability,
    if(e.n_labels > 1, i.low, null) as low,
    if(e.n_labels > 1, i.high, null) as high
from temp.stage_estimate as e
inner join temp.stage_interval as i on e.row_index = i.row_index
order by e.row_index
