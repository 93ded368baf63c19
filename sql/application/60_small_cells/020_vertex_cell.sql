-- step:    vertex_cell
-- mode:    create
-- purpose: The respondents of an event tree as a flow from the root to the leaves, and out of
--          the situations where some stop. Node 0 is outside the tree; vertex v is node v + 1.
-- reads:   vertex, edge
-- writes:  vertex_cell(cell, kind, owner_id, label_id, tail, head, n)
-- params:  tree_id INTEGER, the tree
-- source:  serves output with small counts hidden (min_n)
select
    2 * v.vertex_id as cell,
    'vertex' as kind,
    v.vertex_id as owner_id,
    cast(null as bigint) as label_id,
    coalesce(e.parent_id + 1, 0) as tail,
    if(v.variable_id is null, 0, v.vertex_id + 1) as head,
    v.n
from cegdb.vertex as v
left join cegdb.edge as e on v.tree_id = e.tree_id and v.vertex_id = e.child_id
where v.tree_id = $tree_id
union all
select
    2 * v.vertex_id + 1 as cell,
    'stopped' as kind,
    v.vertex_id as owner_id,
    null as label_id,
    v.vertex_id + 1 as tail,
    0 as head,
    v.n_stopped as n
from cegdb.vertex as v
where v.tree_id = $tree_id and v.n_stopped > 0
