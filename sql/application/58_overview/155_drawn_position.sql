-- step:    drawn_position
-- mode:    create
-- purpose: The positions that an overview of a CEG draws, as in the view positions, with their
--          columns.
-- reads:   positions or masked_positions, overview_position
-- writes:  drawn_position(ceg, position, stage, variable, height, n, n_situations, colour,
--          position_id, stage_id, column_index)
-- params:  positions VARCHAR, the relation to read, such as cegdb.positions
--          ceg VARCHAR, the name of the CEG
-- source:  serves the overview of large graphs (cegdb draw)
select
    p.ceg,
    p.position,
    p.stage,
    p.variable,
    p.height,
    p.n,
    p.n_situations,
    p.colour,
    p.position_id,
    p.stage_id,
    d.column_index
from query_table($positions) as p
inner join temp.overview_position as d on p.position_id = d.position_id
where p.ceg = $ceg and d.node_id >= 0
