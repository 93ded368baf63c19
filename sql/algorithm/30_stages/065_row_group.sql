-- step:    row_group
-- mode:    append temp.given_group
-- purpose: The groups of situations that the user gave as a table of vertex_id and name.
-- reads:   group_row
-- writes:  given_group(role, vertex_id, name, shown_name)
-- params:  role VARCHAR, what the groups are: stage, frozen, initial, hyperstage or prior
--          is_named BOOLEAN, whether their names are to be shown
-- source:  serves stages, priors and hyperstages that a user gives as a table
select distinct
    $role as role,
    vertex_id,
    name,
    if($is_named, name, null) as shown_name
from temp.group_row
