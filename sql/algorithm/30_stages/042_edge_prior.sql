-- step:    edge_prior
-- mode:    create
-- purpose: The prior of each edge (Dirichlet parameter): the given one, or a share of alpha.
--          Rule 'mass' divides alpha from the root down, equally within each floret; 'floret'
--          gives each floret alpha, divided equally, as 'stage' does with each stage, of one
--          floret or of many; 'path' divides it equally among the paths to the leaves.
-- reads:   edge, floret_mass, leaf_count, prior_entry
-- writes:  edge_prior(child_id, prior)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, the staging
--          alpha DOUBLE, prior mass of the root
--          rule VARCHAR, 'mass', 'floret', 'path' or 'stage'
-- source:  Freeman & Smith (2011); docs/theory.md, section 6 (Scores and clustering)
select
    e.child_id,
    coalesce(
        g.prior,
        case $rule
            when 'floret' then $alpha / m.n_edges
            when 'stage' then $alpha / m.n_edges
            when 'path' then $alpha * b.n_leaves / r.n_leaves
            else $alpha / m.n_shares
        end
    ) as prior
from cegdb.edge as e
inner join temp.floret_mass as m on e.parent_id = m.vertex_id
left join temp.leaf_count as b on e.child_id = b.vertex_id
left join temp.leaf_count as r on r.vertex_id = 0
left join cegdb.prior_entry as g
    on g.staging_id = $staging_id and e.child_id = g.child_id
where e.tree_id = $tree_id
