-- step:    situation_path
-- mode:    append temp.situation_path
-- purpose: The labels from the root to each situation, to find those a user names.
-- reads:   edge, level, floret, situation_path
-- writes:  situation_path(vertex_id, depth, labels)
-- params:  tree_id INTEGER, the tree
--          depth INTEGER, edges from the root, >= 1
-- source:  DESIGN 6
select
    e.child_id as vertex_id,
    $depth as depth,
    list_append(p.labels, l.label) as labels
from temp.situation_path as p
inner join cegdb.edge as e on p.vertex_id = e.parent_id
inner join cegdb.level as l on e.level_id = l.level_id
where
    p.depth = $depth - 1
    and e.tree_id = $tree_id
    and e.child_id in (select f.vertex_id from temp.floret as f)
