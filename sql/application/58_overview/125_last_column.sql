-- step:    last_column
-- mode:    fetch
-- purpose: The last column of a CEG that has a position with enough people to be drawn.
-- reads:   position_column
-- writes:  last_column(column_index)
-- params:  collapse_below BIGINT, smallest number of people of a drawn position, 0 for all
-- source:  serves the overview of large graphs (cegdb draw)
select coalesce(max(p.column_index), 0) as column_index
from temp.position_column as p
where
    p.position_id = 0
    or (p.n >= $collapse_below and ($collapse_below = 0 or not p.is_hidden))
