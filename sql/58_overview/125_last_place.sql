-- step:     last_place
-- mode:     fetch
-- purpose:  The last column of a CEG in which a position has enough people to be drawn.
-- reads:    position_place
-- writes:   last_place(place)
-- params:   collapse_below BIGINT, people from which on a position is drawn, 0 for all
-- source:   serves the overview of large graphs (cegdb draw)
select coalesce(max(p.place), 0) as place
from temp.position_place as p
where
    p.position_id = 0
    or (p.n >= $collapse_below and ($collapse_below = 0 or not p.is_hidden))
