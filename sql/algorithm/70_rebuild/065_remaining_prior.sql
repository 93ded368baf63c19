-- step:    remaining_prior
-- mode:    create
-- purpose: The priors given for situations that are still in the tree, in a form that can be
--          given again.
-- reads:   prior_entry, same_vertex, edge, level
-- writes:  remaining_prior(vertex_id, label, prior)
-- params:  staging_id INTEGER, the staging
--          tree_id INTEGER, its tree
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    s.vertex_id,
    p.label,
    p.prior
from cegdb.prior_entry as p
inner join temp.same_vertex as s on p.vertex_id = s.former_id
inner join cegdb.edge as e on e.tree_id = $tree_id and s.vertex_id = e.parent_id
inner join cegdb.level as l on e.level_id = l.level_id and p.label = l.label
where p.staging_id = $staging_id
