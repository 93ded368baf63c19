-- step:    unreached_situation
-- mode:    fetch
-- purpose: How many situations with several answers got none.
-- reads:   stage
-- writes:  unreached_situation(n_situations)
-- params:  staging_id INTEGER, the staging
-- source:  serves the findings of a staging
select cast(coalesce(sum(n_situations), 0) as bigint) as n_situations
from cegdb.stage
where staging_id = $staging_id and kind = 'unobserved'
