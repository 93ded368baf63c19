-- step:    situation_raw_label
-- mode:    fetch
-- purpose: The label in the tree of each edge of a staged tree that shows another one.
-- reads:   relabelled_edge, edge, level
-- writes:  situation_raw_label(source_id, label, raw_labels)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  docs/architecture.md, section Cells
select
    e.parent_id as source_id,
    r.label,
    [l.label] as raw_labels
from cegdb.relabelled_edge as r
inner join cegdb.edge as e on e.tree_id = $tree_id and r.child_id = e.child_id
inner join cegdb.level as l on e.level_id = l.level_id
where r.staging_id = $staging_id
