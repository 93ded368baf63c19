-- step:    incomplete_prior
-- mode:    fetch
-- purpose: The first situation with priors for some labels, but not exactly one for each.
-- reads:   given_entry, floret
-- writes:  incomplete_prior(vertex_id, n_edges, n_given)
-- params:  none
-- source:  serves priors given by the user (prior=)
select
    f.vertex_id,
    f.n_edges,
    count(g.label) as n_given
from temp.floret as f
inner join temp.given_entry as g on f.vertex_id = g.vertex_id
group by f.vertex_id, f.n_edges
having count(g.label) <> f.n_edges
order by f.vertex_id
limit 1
