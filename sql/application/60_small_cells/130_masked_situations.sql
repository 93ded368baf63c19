-- step:    masked_situations
-- mode:    create
-- purpose: The view situations for one tree, with hidden counts removed.
-- reads:   situations, hidden_cell
-- writes:  masked_situations(tree, situation, variable, path, labels, depth, height, n,
--          weight, n_stopped, vertex_id)
-- params:  object_name VARCHAR, the tree's
-- source:  serves output with small counts hidden (min_n)
select
    v.tree,
    v.situation,
    v.variable,
    v.path,
    v.labels,
    v.depth,
    v.height,
    if(h.owner_id is null, v.n, null) as n,
    if(h.owner_id is null, v.weight, null) as weight,
    if(s.owner_id is null, v.n_stopped, null) as n_stopped,
    v.vertex_id
from cegdb.situations as v
left join temp.hidden_cell as h on h.kind = 'vertex' and v.vertex_id = h.owner_id
left join temp.hidden_cell as s on s.kind = 'stopped' and v.vertex_id = s.owner_id
where v.tree = $object_name
