-- step:    history_parent
-- mode:    fetch
-- purpose: The parents that were chosen for each hyperstage of a staging.
-- reads:   parent_sets
-- writes:  history_parent(hyperstage_id, parents)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 16 (Limiting the number of parents)
select
    p.hyperstage_id,
    p.parents
from cegdb.parent_sets as p
inner join cegdb.staging as g on p.staging = g.name
where g.staging_id = $staging_id and p.is_chosen
order by p.hyperstage_id
