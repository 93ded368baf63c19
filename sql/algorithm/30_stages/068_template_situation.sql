-- step:    template_situation
-- mode:    create
-- purpose: The situation of each row of a template, by its vertex_id, else by its path (where
--          '*' is an ordinary label), with its path and variable in the tree.
-- reads:   template_row, situation_path, floret, variable
-- writes:  template_situation(row_id, line, name, vertex_id, labels, variable)
-- params:  none
-- source:  serves templates (files in which an expert fills in the stages)
with matched as (
    select
        r.row_id,
        r.line,
        r.name,
        s.vertex_id,
        s.labels
    from temp.template_row as r
    inner join temp.situation_path as s on r.vertex_id = s.vertex_id
    union all
    select
        r.row_id,
        r.line,
        r.name,
        s.vertex_id,
        s.labels
    from temp.template_row as r
    inner join temp.situation_path as s on r.labels = s.labels
    where r.vertex_id is null
)

select
    m.row_id,
    m.line,
    m.name,
    m.vertex_id,
    m.labels,
    q.name as variable
from matched as m
inner join temp.floret as f on m.vertex_id = f.vertex_id
inner join cegdb.variable as q on f.variable_id = q.variable_id
