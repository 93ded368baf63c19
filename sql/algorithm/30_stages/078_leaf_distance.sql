-- step:    leaf_distance
-- mode:    create
-- purpose: Number of edges on the shortest path from each vertex to a leaf, for the hyperstages
--          of the paper.
-- reads:   vertex, edge
-- writes:  leaf_distance(vertex_id, distance)
-- params:  tree_id INTEGER, the tree
-- source:  Shenvi & Smith (2020), sections 3 and 5, and its published code;
--          docs/theory.md, section 13 (Errata of Shenvi and Smith (2020))
with recursive above as (
    select
        v.vertex_id,
        0 as distance
    from cegdb.vertex as v
    where v.tree_id = $tree_id and v.height = 0
    union
    select
        e.parent_id as vertex_id,
        a.distance + 1 as distance
    from above as a
    inner join cegdb.edge as e on e.tree_id = $tree_id and a.vertex_id = e.child_id
)

select
    vertex_id,
    min(distance) as distance
from above
group by vertex_id
