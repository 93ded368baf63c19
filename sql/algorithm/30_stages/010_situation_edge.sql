-- step:    situation_edge
-- mode:    create
-- purpose: The edges of the tree with their variable, the id of their label in the staging, and
--          the label in the tree, which users write.
-- reads:   edge, level, given_label
-- writes:  situation_edge(vertex_id, child_id, variable_id, label_id, label, n, weight)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          docs/theory.md, section 5 (Equivalent labels)
select
    e.parent_id as vertex_id,
    e.child_id,
    l.variable_id,
    coalesce(r.label_id, l.label_id) as label_id,
    l.label,
    e.n,
    e.weight
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
left join temp.given_label as r on e.child_id = r.child_id
where e.tree_id = $tree_id
