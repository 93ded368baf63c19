-- step:    tree_edge_relabelling
-- mode:    fetch
-- purpose: The labels of the tree that each label of a staged tree stands for, by variable.
-- reads:   compiled_tree_edge
-- writes:  tree_edge_relabelling(variable_id, raw_label, label_id)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation)
select distinct
    variable_id,
    raw_label,
    label_id
from temp.compiled_tree_edge
order by variable_id, raw_label, label_id
