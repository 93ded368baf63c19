-- step:    page_edge
-- mode:    create
-- purpose: The edges of the situations that a page shows, with their label in the staging; only
--          those on a path of the CEG.
-- reads:   page_situation, edge, level, position_member, relabelled_edge, vertex
-- writes:  page_edge(parent_id, child_id, label, label_id, n, is_leaf)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          staging_id INTEGER, its staging, or that of the CEG without evidence
-- source:  serves the page of a CEG (cegdb report page)
select
    e.parent_id,
    e.child_id,
    l.label,
    coalesce(r.label_id, l.label_id) as label_id,
    e.n,
    v.variable_id is null as is_leaf
from temp.page_situation as s
inner join cegdb.edge as e on e.tree_id = $tree_id and s.vertex_id = e.parent_id
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.vertex as v on v.tree_id = $tree_id and e.child_id = v.vertex_id
inner join cegdb.position_member as m on m.ceg_id = $ceg_id and e.child_id = m.vertex_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
