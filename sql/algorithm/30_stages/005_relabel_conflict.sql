-- step:    relabel_conflict
-- mode:    fetch
-- purpose: The first edge to which two relabelling rules give different labels.
-- reads:   relabel_edge, level
-- writes:  relabel_conflict(vertex_id, raw_label, label, other_label)
-- params:  none
-- source:  docs/theory.md, section 5 (Equivalent labels)
select
    e.vertex_id,
    l.label as raw_label,
    min(e.label) as label,
    max(e.label) as other_label
from temp.relabel_edge as e
inner join cegdb.level as l on e.level_id = l.level_id
group by e.vertex_id, e.child_id, l.label
having min(e.label) <> max(e.label)
order by e.child_id
limit 1
