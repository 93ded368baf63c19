-- step:    combination_vertex
-- mode:    create
-- purpose: The vertex of each combination at each depth, with the answer that leads further;
--          null where that is not known.
-- reads:   row_vertex, row_vertex_name, edge, level, relabelled_edge
-- writes:  combination_vertex(combination_id, depth, variable, label, situation, stage,
--          position, vertex_id, stage_id, position_id)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
-- source:  docs/architecture.md, section Ids;
--          serves answers for each row of a file (assign, complete, score)
select
    w.combination_id,
    w.depth,
    n.variable,
    coalesce(r.label, l.label) as label,
    n.situation,
    n.stage,
    n.position,
    w.vertex_id,
    n.stage_id,
    n.position_id
from temp.row_vertex as w
inner join temp.row_vertex_name as n on w.vertex_id = n.vertex_id
left join cegdb.edge as e on e.tree_id = $tree_id and w.child_id = e.child_id
left join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and w.child_id = r.child_id
order by w.combination_id, w.depth
