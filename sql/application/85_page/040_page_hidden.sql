-- step:    page_hidden
-- mode:    create
-- purpose: Number of situations in each collapsed subtree of a page, its root included.
-- reads:   page_edge, page_situation, position_member, edge, vertex
-- writes:  page_hidden(vertex_id, n_hidden)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
-- source:  serves the page of a CEG (cegdb report page)
with recursive below as (
    select
        e.child_id as top_id,
        e.child_id as vertex_id
    from temp.page_edge as e
    anti join temp.page_situation as s on e.child_id = s.vertex_id
    where not e.is_leaf
    union all
    select
        b.top_id,
        e.child_id as vertex_id
    from below as b
    inner join cegdb.edge as e on e.tree_id = $tree_id and b.vertex_id = e.parent_id
)

select
    b.top_id as vertex_id,
    count(*) as n_hidden
from below as b
inner join cegdb.vertex as v
    on v.tree_id = $tree_id and b.vertex_id = v.vertex_id and v.variable_id is not null
inner join cegdb.position_member as m on m.ceg_id = $ceg_id and b.vertex_id = m.vertex_id
group by b.top_id
