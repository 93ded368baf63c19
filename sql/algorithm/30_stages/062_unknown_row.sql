-- step:    unknown_row
-- mode:    fetch
-- purpose: The rows of a table of groups that name no situation of the tree, or no group.
-- reads:   given_row, floret
-- writes:  unknown_row(written)
-- params:  none
-- source:  serves stages, priors and hyperstages that a user gives as a table
select coalesce(g.written, 'an empty cell') as written
from temp.given_row as g
where
    g.name is null
    or g.vertex_id is null
    or g.vertex_id not in (select f.vertex_id from temp.floret as f)
order by 1
limit 6
