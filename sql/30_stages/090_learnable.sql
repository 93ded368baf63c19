-- step:    learnable
-- mode:    create
-- purpose: The situations that learning sees, those with several edges and some row (or a
--          given initial stage), and the stage each starts in: the initial one, named by
--          its smallest situation, or its own.
-- reads:   floret, floret_mass, situation_group, given_initial
-- writes:  learnable(vertex_id, hyperstage_id, stage_id, n_shares)
-- params:  none
-- source:  DESIGN 5
with start as (
    select
        f.vertex_id,
        g.hyperstage_id,
        m.n_shares,
        i.name,
        min(f.vertex_id) over (partition by g.hyperstage_id, i.name) as smallest
    from temp.floret as f
    inner join temp.situation_group as g on f.vertex_id = g.vertex_id
    inner join temp.floret_mass as m on f.vertex_id = m.vertex_id
    left join temp.given_initial as i on f.vertex_id = i.vertex_id
    where f.n_edges > 1 and (f.n > 0 or i.name is not null)
)

select
    vertex_id,
    hyperstage_id,
    if(name is null, vertex_id, smallest) as stage_id,
    n_shares
from start
