-- step:    floret_mass
-- mode:    append temp.floret_mass
-- purpose: How an edge of each situation shares the prior mass: alpha / n_shares, the
--          product of the floret sizes from the root to the situation.
-- reads:   floret_size, floret_mass
-- writes:  floret_mass(vertex_id, n_shares)
-- params:  depth INTEGER, edges from the root
-- source:  SPEC 6 (mass conservation); Freeman & Smith (2011)
select
    f.vertex_id,
    coalesce(p.n_shares, 1.0) * f.n_edges as n_shares
from temp.floret_size as f
left join temp.floret_mass as p on f.parent_id = p.vertex_id
where f.depth = $depth
