-- step:    floret_mass
-- mode:    append temp.floret_mass
-- purpose: How an edge of each situation shares the prior mass: alpha / n_shares, the
--          product of the floret sizes from the root to the situation.
-- reads:   vertex, edge, floret_size, floret_mass
-- writes:  floret_mass(vertex_id, depth, n_shares)
-- params:  tree_id INTEGER, the tree
--          depth INTEGER, edges from the root
-- source:  SPEC 6 (mass conservation); Freeman & Smith (2011)
select
    f.vertex_id,
    $depth as depth,
    coalesce(p.n_shares, 1.0) * f.n_edges as n_shares
from cegdb.vertex as v
inner join temp.floret_size as f on v.vertex_id = f.vertex_id
left join cegdb.edge as e on e.tree_id = $tree_id and v.vertex_id = e.child_id
left join temp.floret_mass as p on p.depth = $depth - 1 and e.parent_id = p.vertex_id
where v.tree_id = $tree_id and v.depth = $depth
