-- step:    masked_positions
-- mode:    create
-- purpose: The view positions for one CEG, with hidden counts removed.
-- reads:   positions, hidden_cell
-- writes:  masked_positions(ceg, position, stage, variable, height, n, n_situations, colour,
--          position_id, stage_id)
-- params:  object_name VARCHAR, the CEG's
-- source:  serves output with small counts hidden (min_n)
select
    p.ceg,
    p.position,
    p.stage,
    p.variable,
    p.height,
    if(h.owner_id is null, p.n, null) as n,
    p.n_situations,
    p.colour,
    p.position_id,
    p.stage_id
from cegdb.positions as p
left join temp.hidden_cell as h on h.kind = 'position' and p.position_id = h.owner_id
where p.ceg = $object_name
