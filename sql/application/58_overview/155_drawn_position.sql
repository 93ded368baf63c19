-- step:    drawn_position
-- mode:    create
-- purpose: The positions that an overview of a CEG draws, with their columns.
-- reads:   overview_position
-- writes:  drawn_position(position_id, column_index)
-- params:  none
-- source:  serves the overview of large graphs (cegdb draw)
select
    p.position_id,
    p.column_index
from temp.overview_position as p
where p.node_id >= 0
