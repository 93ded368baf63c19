-- step:    floret_mass
-- mode:    create
-- purpose: How an edge of each situation shares the prior mass: alpha / n_shares, the
--          product of the floret sizes from the root to the situation.
-- reads:   floret_size
-- writes:  floret_mass(vertex_id, n_shares)
-- params:  none
-- source:  SPEC 6 (mass conservation); Freeman & Smith (2011)
with recursive mass as (
    select
        vertex_id,
        cast(n_edges as double) as n_shares
    from temp.floret_size
    where parent_id is null
    union all
    select
        f.vertex_id,
        m.n_shares * f.n_edges as n_shares
    from mass as m
    inner join temp.floret_size as f on m.vertex_id = f.parent_id
)

select
    vertex_id,
    n_shares
from mass
