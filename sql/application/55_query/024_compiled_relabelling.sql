-- step:    compiled_relabelling
-- mode:    fetch
-- purpose: The tree's own labels behind each label of a CEG, by variable.
-- reads:   ceg_edge, compiled_position
-- writes:  compiled_relabelling(variable_id, raw_label, label_id)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 8 (Probability propagation)
select distinct
    p.variable_id,
    unnest(e.raw_labels) as raw_label,
    e.label_id
from cegdb.ceg_edge as e
inner join temp.compiled_position as p on e.source_id = p.position_id
where e.ceg_id = $ceg_id and p.variable_id >= 0
order by p.variable_id, e.label_id, raw_label
