-- step:    omitted_situation
-- mode:    fetch
-- purpose: Number of situations of a variable, number of those not plotted, the people in these
--          as far as known, and number of situations with a hidden count.
-- reads:   plotted_vertex, plotted_situation
-- writes:  omitted_situation(n_omitted, n_all, n_people, n_hidden)
-- params:  variable VARCHAR, null for all
-- source:  serves the plots of situations and of co-staging (cegdb plot)
select
    count(*) - count(s.vertex_id) as n_omitted,
    count(*) as n_all,
    cast(coalesce(sum(v.n) filter (where s.vertex_id is null), 0) as bigint) as n_people,
    count(*) - count(v.n) as n_hidden
from temp.plotted_vertex as v
left join temp.plotted_situation as s on v.vertex_id = s.vertex_id
where v.variable = coalesce($variable, v.variable)
