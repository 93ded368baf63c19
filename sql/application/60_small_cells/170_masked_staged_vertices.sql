-- step:    masked_staged_vertices
-- mode:    create
-- purpose: The view staged_vertices for one staging, with hidden counts removed.
-- reads:   staged_vertices, hidden_cell
-- writes:  masked_staged_vertices(staging, vertex, variable, stage, colour, depth, height, n,
--          weight, vertex_id, stage_id)
-- params:  object_name VARCHAR, the staging's
-- source:  serves output with small counts hidden (min_n)
select
    v.staging,
    v.vertex,
    v.variable,
    v.stage,
    v.colour,
    v.depth,
    v.height,
    if(h.owner_id is null, v.n, null) as n,
    if(h.owner_id is null, v.weight, null) as weight,
    v.vertex_id,
    v.stage_id
from cegdb.staged_vertices as v
left join temp.hidden_cell as h on h.kind = 'vertex' and v.vertex_id = h.owner_id
where v.staging = $object_name
