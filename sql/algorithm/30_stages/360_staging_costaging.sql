-- step:    staging_costaging
-- mode:    append cegdb.costaging
-- purpose: How probable it is that two situations of a hyperstage share a stage.
-- reads:   costaged_pair
-- writes:  costaging(staging_id, vertex_id, other_id, probability, std_error, method)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 15 (Averaging over stagings)
select
    $staging_id as staging_id,
    vertex_id,
    other_id,
    probability,
    if(isnan(std_error), null, std_error) as std_error,
    if(is_sampled, 'sampled', 'exact') as method
from temp.costaged_pair
order by vertex_id, other_id
