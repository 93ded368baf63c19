-- step:    template_mismatch
-- mode:    fetch
-- purpose: The first row of a template that matches no situation of the tree, or whose path or
--          variable differs from its situation's; with the situation's own path and variable.
-- reads:   template_row, template_situation
-- writes:  template_mismatch(row_id, labels, variable)
-- params:  none
-- source:  serves templates (files in which an expert fills in the stages)
select
    r.row_id,
    s.labels,
    s.variable
from temp.template_row as r
left join temp.template_situation as s on r.row_id = s.row_id
where s.row_id is null or r.labels <> s.labels or r.variable <> s.variable
order by r.row_id
limit 1
