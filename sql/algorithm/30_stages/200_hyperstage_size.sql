-- step:    hyperstage_size
-- mode:    fetch
-- purpose: The hyperstages of each variable with their labels, for the finding on variables
--          with several.
-- reads:   hyperstage, variable, stage
-- writes:  hyperstage_size(variable, labels, n_situations, n)
-- params:  staging_id INTEGER, the staging
-- source:  serves the findings of a staging
select
    v.name as variable,
    h.labels,
    h.n_situations,
    cast(sum(s.n) as bigint) as n
from cegdb.hyperstage as h
inner join cegdb.variable as v on h.variable_id = v.variable_id
inner join cegdb.stage as s on h.staging_id = s.staging_id and h.hyperstage_id = s.hyperstage_id
where h.staging_id = $staging_id
group by v.variable_id, v.name, h.hyperstage_id, h.labels, h.n_situations
order by v.variable_id, h.hyperstage_id
