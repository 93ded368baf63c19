-- step:    position_prior
-- mode:    create
-- purpose: The prior mass of each label of each position, when situations have priors of their
--          own: the sum over its situations, in sorted order, so that it does not depend on
--          threads.
-- reads:   edge, level, relabelled_edge, position_of, edge_prior
-- writes:  position_prior(position_id, label_id, prior)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  docs/theory.md, section 6 (Scores and clustering)
with shared as (
    select
        p.position_id,
        coalesce(r.label_id, l.label_id) as label_id,
        a.prior,
        count(*) as n_members
    from cegdb.edge as e
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join temp.position_of as p on e.parent_id = p.vertex_id
    inner join temp.edge_prior as a on e.child_id = a.child_id
    left join cegdb.relabelled_edge as r
        on r.staging_id = $staging_id and e.child_id = r.child_id
    where e.tree_id = $tree_id
    group by p.position_id, coalesce(r.label_id, l.label_id), a.prior
)

select
    position_id,
    label_id,
    list_sum(list_sort(list(n_members * prior))) as prior
from shared
group by position_id, label_id
