-- step:    label_order
-- mode:    create
-- purpose: The order of the labels within each floret: the level order of the position's
--          variable, taken from its smallest situation.
-- reads:   ceg_edge, edge, level, relabelled_edge
-- writes:  label_order(source_id, label_id, level_id)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          staging_id INTEGER, its stages
-- source:  docs/theory.md, section 3 (Recovering the staged tree);
--          docs/architecture.md, section Ids
select
    c.source_id,
    c.label_id,
    e.level_id
from cegdb.ceg_edge as c
inner join cegdb.edge as e on e.tree_id = $tree_id and c.source_id = e.parent_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
where c.ceg_id = $ceg_id and c.label_id = coalesce(r.label_id, l.label_id)
