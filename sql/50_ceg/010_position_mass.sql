-- step:    position_mass
-- mode:    create
-- purpose: The prior of each label of each position: that of its situations, added in sorted
--          order so that the sum does not depend on threads.
-- reads:   staged_edge, position_of, edge_prior
-- writes:  position_mass(position_id, label_id, prior)
-- params:  none
-- source:  SPEC 6 (merged stages add their priors)
with shared as (
    select
        p.position_id,
        e.label_id,
        a.prior,
        count(*) as n_members
    from temp.staged_edge as e
    inner join temp.position_of as p on e.vertex_id = p.vertex_id
    inner join temp.edge_prior as a on e.child_id = a.child_id
    group by p.position_id, e.label_id, a.prior
)

select
    position_id,
    label_id,
    list_sum(list_sort(list(n_members * prior))) as prior
from shared
group by position_id, label_id
