-- step:    page_position
-- mode:    create
-- purpose: The positions of a CEG, with small cells hidden if requested.
-- reads:   positions, or masked_positions
-- writes:  page_position(position_id, position, stage_id, stage, variable, colour, height, n,
--          n_situations)
-- params:  positions VARCHAR, the view of positions, such as cegdb.positions
--          ceg VARCHAR, the name of the CEG
-- source:  serves the page of a CEG (cegdb report page)
select
    p.position_id,
    p.position,
    p.stage_id,
    p.stage,
    p.variable,
    p.colour,
    p.height,
    p.n,
    p.n_situations
from query_table($positions) as p
where p.ceg = $ceg
