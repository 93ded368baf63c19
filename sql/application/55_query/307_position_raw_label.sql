-- step:    position_raw_label
-- mode:    fetch
-- purpose: The labels in the tree of each edge of a CEG, by the label that the CEG shows.
-- reads:   ceg_edge, labels
-- writes:  position_raw_label(source_id, label, raw_labels)
-- params:  ceg_id INTEGER, the CEG
--          survey_id INTEGER, its survey
-- source:  docs/architecture.md, section Cells
select
    e.source_id,
    l.label,
    e.raw_labels
from cegdb.ceg_edge as e
inner join (
    select distinct
        label_id,
        label
    from cegdb.labels
    where survey_id = $survey_id
) as l on e.label_id = l.label_id
where e.ceg_id = $ceg_id
