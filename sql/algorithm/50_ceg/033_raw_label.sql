-- step:    raw_label
-- mode:    create
-- purpose: The labels of the tree behind each edge of a position, by its label in the staging.
-- reads:   edge, level, relabelled_edge, position_of
-- writes:  raw_label(position_id, label_id, labels)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  docs/theory.md, section 5 (Equivalent labels)
select
    p.position_id,
    coalesce(r.label_id, l.label_id) as label_id,
    list_sort(list(distinct l.label)) as labels
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join temp.position_of as p on e.parent_id = p.vertex_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
where e.tree_id = $tree_id
group by p.position_id, coalesce(r.label_id, l.label_id)
