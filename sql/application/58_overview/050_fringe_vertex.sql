-- step:    fringe_vertex
-- mode:    create
-- purpose: The children of drawn situations that are not drawn situations themselves, and the
--          node in which each is drawn: those with few people or a hidden count in one node per
--          parent, the others in their own. A node has the id of its first vertex; a leaf that
--          is alone is drawn as itself.
-- reads:   edge, vertex, drawn_situation, hidden_cell
-- writes:  fringe_vertex(vertex_id, parent_id, node_id, n_members, is_situation, is_drawn)
-- params:  tree_id INTEGER, the tree
--          collapse_below BIGINT, people from which on a vertex has a node of its own, 0
--          for all
-- source:  serves the overview of large graphs (cegdb draw)
with child as (
    select
        e.child_id as vertex_id,
        e.parent_id,
        v.variable_id is not null as is_situation,
        if(
            v.n < $collapse_below or (h.owner_id is not null and $collapse_below > 0),
            -1,
            e.child_id
        ) as together
    from cegdb.edge as e
    inner join cegdb.vertex as v on e.tree_id = v.tree_id and e.child_id = v.vertex_id
    left join temp.hidden_cell as h on h.kind = 'vertex' and e.child_id = h.owner_id
    where
        e.tree_id = $tree_id
        and v.tree_id = $tree_id
        and e.parent_id in (
            select d.vertex_id
            from temp.drawn_situation as d
        )
        and e.child_id not in (
            select d.vertex_id
            from temp.drawn_situation as d
        )
)

select
    c.vertex_id,
    c.parent_id,
    min(c.vertex_id) over (partition by c.parent_id, c.together) as node_id,
    count(*) over (partition by c.parent_id, c.together) as n_members,
    c.is_situation,
    not c.is_situation
    and count(*) over (partition by c.parent_id, c.together) = 1 as is_drawn
from child as c
