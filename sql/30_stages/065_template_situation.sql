-- step:    template_situation
-- mode:    create
-- purpose: The situation of each row of a template, by its vertex_id or else by its path
--          (labels as they are, none stands for any), with the path and variable it has.
-- reads:   template_row, situation_path, floret, variable
-- writes:  template_situation(row_id, vertex_id, labels, variable)
-- params:  none
-- source:  serves templates (files in which an expert fills in the stages)
with found as (
    select
        r.row_id,
        s.vertex_id,
        s.labels
    from temp.template_row as r
    inner join temp.situation_path as s on r.vertex_id = s.vertex_id
    union all
    select
        r.row_id,
        s.vertex_id,
        s.labels
    from temp.template_row as r
    inner join temp.situation_path as s on r.labels = s.labels
    where r.vertex_id is null
)

select
    o.row_id,
    o.vertex_id,
    o.labels,
    q.name as variable
from found as o
inner join temp.floret as f on o.vertex_id = f.vertex_id
inner join cegdb.variable as q on f.variable_id = q.variable_id
