-- step:    template_group
-- mode:    append temp.given_group
-- purpose: The groups of situations that a template names, and the line that names each.
-- reads:   template_situation
-- writes:  given_group(role, vertex_id, name, shown_name, line)
-- params:  role VARCHAR, what the groups are: stage, frozen, initial, hyperstage or prior
-- source:  serves templates (files in which an expert fills in the stages)
select
    $role as role,
    vertex_id,
    name,
    name as shown_name,
    min(line) as line
from temp.template_situation
where name is not null
group by vertex_id, name
