-- step:    unknown_row
-- mode:    fetch
-- purpose: The rows of a table of groups that name no situation of the tree, or no group.
-- reads:   group_row, floret
-- writes:  unknown_row(written, is_situation)
-- params:  none
-- source:  serves stages, priors and hyperstages that a user gives as a table
select
    coalesce(g.written, 'an empty cell') as written,
    f.vertex_id is not null as is_situation
from temp.group_row as g
left join temp.floret as f on g.vertex_id = f.vertex_id
where g.name is null or f.vertex_id is null
order by f.vertex_id, written
