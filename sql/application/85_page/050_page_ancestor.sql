-- step:    page_ancestor
-- mode:    create
-- purpose: The vertices named on a page and all their ancestors, with the edge to each.
-- reads:   page_situation, page_edge, page_member, edge, level
-- writes:  page_ancestor(vertex_id, parent_id, label)
-- params:  tree_id INTEGER, the tree
-- source:  serves the page of a CEG (cegdb report page)
with recursive up as (
    select s.vertex_id
    from temp.page_situation as s
    union
    select e.child_id as vertex_id
    from temp.page_edge as e
    union
    select m.vertex_id
    from temp.page_member as m
    union
    select e.parent_id as vertex_id
    from up as u
    inner join cegdb.edge as e on e.tree_id = $tree_id and u.vertex_id = e.child_id
)

select
    u.vertex_id,
    e.parent_id,
    l.label
from up as u
left join cegdb.edge as e on e.tree_id = $tree_id and u.vertex_id = e.child_id
left join cegdb.level as l on e.level_id = l.level_id
