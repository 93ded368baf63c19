-- step:    situation_edge
-- mode:    create
-- purpose: The edges of the tree with what stages are about: variable and label.
-- reads:   edge, level
-- writes:  situation_edge(vertex_id, child_id, variable_id, label_id, label, n, weight)
-- params:  tree_id INTEGER, the tree
-- source:  SPEC 0
select
    e.parent_id as vertex_id,
    e.child_id,
    l.variable_id,
    l.label_id,
    l.label,
    e.n,
    e.weight
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id
