-- step:    masked_vertices
-- mode:    create
-- purpose: The view vertices for one tree, with hidden counts removed.
-- reads:   vertices, hidden_cell
-- writes:  masked_vertices(tree, vertex, vertex_id, depth, height, variable, n, weight,
--          n_stopped)
-- params:  object_name VARCHAR, the tree's
-- source:  serves output with small counts hidden (min_n)
select
    v.tree,
    v.vertex,
    v.vertex_id,
    v.depth,
    v.height,
    v.variable,
    if(h.owner_id is null, v.n, null) as n,
    if(h.owner_id is null, v.weight, null) as weight,
    if(s.owner_id is null, v.n_stopped, null) as n_stopped
from cegdb.vertices as v
left join temp.hidden_cell as h on h.kind = 'vertex' and v.vertex_id = h.owner_id
left join temp.hidden_cell as s on s.kind = 'stopped' and v.vertex_id = s.owner_id
where v.tree = $object_name
