-- step:    member_group
-- mode:    append temp.given_group
-- purpose: The groups of situations in a table that cegdb made, such as stages after an edit.
-- reads:   edited_member or remaining_member
-- writes:  given_group(role, vertex_id, name, shown_name)
-- params:  role VARCHAR, what the groups are: stage, frozen, initial or hyperstage
--          members VARCHAR, the table, such as temp.edited_member
-- source:  serves joining, splitting and renaming stages by hand, and cegdb rebuild
select
    $role as role,
    vertex_id,
    name,
    shown_name
from query_table($members)
