-- step:    vertex_end
-- mode:    create
-- purpose: The respondents who end at each vertex, at a leaf or because they stop there, with
--          their weights; and for the edge to the vertex, its stage, label, probability and
--          effective count.
-- reads:   vertex, edge, vertex_weight, situation_edge, edge_size, stage_member, stage_edge
-- writes:  vertex_end(vertex_id, depth, parent_id, variable_id, label_id, n_ended,
--          weight_ended, weight_sq_ended, size, stage_id, probability)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, the staging
-- source:  Efron (1979), Bootstrap methods: another look at the jackknife
with below as (
    select
        e.parent_id as vertex_id,
        sum(e.weight) as weight,
        sum(q.weight_sq) as weight_sq
    from cegdb.edge as e
    left join cegdb.vertex_weight as q on e.tree_id = q.tree_id and e.child_id = q.vertex_id
    where e.tree_id = $tree_id
    group by e.parent_id
)

select
    v.vertex_id,
    v.depth,
    coalesce(e.vertex_id, -1) as parent_id,
    coalesce(e.variable_id, -1) as variable_id,
    coalesce(e.label_id, -1) as label_id,
    if(v.height = 0, v.n, v.n_stopped) as n_ended,
    cast(v.weight - coalesce(b.weight, 0) as double) as weight_ended,
    cast(q.weight_sq - coalesce(b.weight_sq, 0) as double) as weight_sq_ended,
    cast(coalesce(z.size, e.n, 0) as double) as size,
    coalesce(m.stage_id, -1) as stage_id,
    coalesce(p.probability, 1) as probability
from cegdb.vertex as v
left join temp.situation_edge as e on v.vertex_id = e.child_id
left join temp.edge_size as z on v.vertex_id = z.child_id
left join below as b on v.vertex_id = b.vertex_id
left join cegdb.vertex_weight as q on q.tree_id = $tree_id and v.vertex_id = q.vertex_id
left join cegdb.stage_member as m
    on m.staging_id = $staging_id and e.vertex_id = m.vertex_id
left join cegdb.stage_edge as p
    on p.staging_id = $staging_id and m.stage_id = p.stage_id and e.label_id = p.label_id
where v.tree_id = $tree_id
