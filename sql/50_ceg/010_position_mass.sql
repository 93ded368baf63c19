-- step:    position_mass
-- mode:    create
-- purpose: The prior mass of one edge of each position: that of its situations, added in
--          sorted order so that the sum does not depend on threads.
-- reads:   position_of, floret_mass
-- writes:  position_mass(position_id, prior)
-- params:  alpha DOUBLE, prior mass of the root
-- source:  SPEC 6 (merged stages add their masses)
with shared as (
    select
        p.position_id,
        m.n_shares,
        count(*) as n_members
    from temp.position_of as p
    inner join temp.floret_mass as m on p.vertex_id = m.vertex_id
    group by p.position_id, m.n_shares
)

select
    position_id,
    list_sum(list_sort(list(n_members * $alpha / n_shares))) as prior
from shared
group by position_id
