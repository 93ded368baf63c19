-- step:    split_variable
-- mode:    fetch
-- purpose: Variables with several hyperstages, and how many florets lack some label that
--          the variable has elsewhere in the tree.
-- reads:   hyperstage, variable
-- writes:  split_variable(variable, n_hyperstages, n_lacking)
-- params:  staging_id INTEGER, the staging
-- source:  DESIGN 5
with labelled as (
    select
        h.variable_id,
        count(distinct u.label) as n_labels
    from cegdb.hyperstage as h
    cross join lateral (select unnest(h.labels) as label) as u
    where h.staging_id = $staging_id
    group by h.variable_id
)

select
    v.name as variable,
    count(*) as n_hyperstages,
    coalesce(sum(h.n_situations) filter (where len(h.labels) < l.n_labels), 0) as n_lacking
from cegdb.hyperstage as h
inner join labelled as l on h.variable_id = l.variable_id
inner join cegdb.variable as v on h.variable_id = v.variable_id
where h.staging_id = $staging_id
group by v.variable_id, v.name
having count(*) > 1
order by v.variable_id
