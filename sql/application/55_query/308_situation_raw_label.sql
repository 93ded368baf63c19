-- step:    situation_raw_label
-- mode:    fetch
-- purpose: The label in the tree of each edge of a staged tree that shows another one: the
--          staging relabels it, or the codebook declares it the same as another label.
-- reads:   edge, level, labels, relabelled_edge
-- writes:  situation_raw_label(source_id, label, raw_labels)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          survey_id INTEGER, its survey
-- source:  docs/architecture.md, section Cells
select
    e.parent_id as source_id,
    coalesce(r.label, h.label) as label,
    [l.label] as raw_labels
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.labels as h on h.survey_id = $survey_id and l.label_id = h.label_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
where e.tree_id = $tree_id and coalesce(r.label, h.label) <> l.label
