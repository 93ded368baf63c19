-- step:    staging_merge
-- mode:    append cegdb.ahc_merge
-- purpose: The merges of AHC, in the order of one greedy run over all hyperstages.
-- reads:   learnt_merge
-- writes:  ahc_merge(staging_id, step, kept_id, absorbed_id, log_bayes_factor)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 6 (Scores and clustering)
select
    $staging_id as staging_id,
    step,
    kept_id,
    absorbed_id,
    log_bayes_factor
from temp.learnt_merge
order by step
