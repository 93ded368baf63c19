-- step:    hyperstage_size
-- mode:    fetch
-- purpose: The hyperstages of each variable with their labels, for the hint about variables
--          with several.
-- reads:   hyperstage, variable
-- writes:  hyperstage_size(variable, labels, n_situations)
-- params:  staging_id INTEGER, the staging
-- source:  serves the summary of a staging
select
    v.name as variable,
    h.labels,
    h.n_situations
from cegdb.hyperstage as h
inner join cegdb.variable as v on h.variable_id = v.variable_id
where h.staging_id = $staging_id
order by v.variable_id, h.hyperstage_id
