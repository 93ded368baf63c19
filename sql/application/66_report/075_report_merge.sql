-- step:    report_merge
-- mode:    fetch
-- purpose: The merges with the smallest Bayes factors, and the number of all merges.
-- reads:   merges
-- writes:  report_merge(kept, absorbed, variable, log_bayes_factor, step, n_merges)
-- params:  staging VARCHAR, the name of the staging
--          most INTEGER, how many
-- source:  serves the analyst's report
select
    m.kept,
    m.absorbed,
    m.variable,
    m.log_bayes_factor,
    m.step,
    count(*) over () as n_merges
from cegdb.merges as m -- noqa: PRS
where m.staging = $staging
qualify row_number() over (order by m.log_bayes_factor, m.step) <= $most
order by m.log_bayes_factor, m.step
