-- step:     position_node
-- mode:     create
-- purpose:  In which node of an overview each position of a CEG is drawn: in its own if it
--           has enough people and its column is one of the first, else with all others of
--           the column (minus its place), or of all later columns.
-- reads:    position_place
-- writes:   position_node(position_id, node_id, place)
-- params:   collapse_below BIGINT, people from which on a position is drawn
--           top_variables INTEGER, number of columns drawn
-- source:   none
select
    p.position_id,
    if(
        p.position_id = 0 or p.place is null
        or (p.n >= $collapse_below and p.place <= $top_variables),
        p.position_id,
        -least(p.place, $top_variables + 1)
    ) as node_id,
    p.place
from temp.position_place as p
