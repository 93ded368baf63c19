-- step:    compiled_label
-- mode:    create
-- purpose: The labels that each variable of a CEG has on its edges.
-- reads:   compiled_edge
-- writes:  compiled_label(variable_id, label_id)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation)
select distinct
    variable_id,
    label_id
from temp.compiled_edge
where variable_id >= 0
order by variable_id, label_id
