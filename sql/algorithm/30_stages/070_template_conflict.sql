-- step:    template_conflict
-- mode:    fetch
-- purpose: The first two rows of a template that put one situation into different groups.
-- reads:   template_situation
-- writes:  template_conflict(vertex_id, name, line, other_name, other_line)
-- params:  none
-- source:  serves templates (files in which an expert fills in the stages)
select
    a.vertex_id,
    a.name,
    a.line,
    b.name as other_name,
    b.line as other_line
from temp.template_situation as a
inner join temp.template_situation as b
    on a.vertex_id = b.vertex_id and a.row_id < b.row_id and a.name <> b.name
order by a.row_id, b.row_id
limit 1
