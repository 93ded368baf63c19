-- step:    staging_size
-- mode:    fetch
-- purpose: The counts shown in the summary of a staging: stages and situations by kind.
-- reads:   stage
-- writes:  staging_size(kind, n_stages, n_situations)
-- params:  staging_id INTEGER, the staging
-- source:  serves the summary of a staging
select
    kind,
    count(*) as n_stages,
    cast(sum(n_situations) as bigint) as n_situations
from cegdb.stage
where staging_id = $staging_id
group by kind
order by kind
