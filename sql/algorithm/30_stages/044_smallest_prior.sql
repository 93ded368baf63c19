-- step:    smallest_prior
-- mode:    fetch
-- purpose: The smallest prior of an edge in a floret with several edges, and its variable.
-- reads:   edge_prior, situation_edge, floret, variable
-- writes:  smallest_prior(prior, variable)
-- params:  none
-- source:  serves the summary of a staging
select
    a.prior,
    q.name as variable
from temp.edge_prior as a
inner join temp.situation_edge as e on a.child_id = e.child_id
inner join temp.floret as f on e.vertex_id = f.vertex_id
inner join cegdb.variable as q on f.variable_id = q.variable_id
where f.n_edges > 1
order by a.prior, e.child_id
limit 1
