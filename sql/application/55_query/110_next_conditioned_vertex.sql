-- step:    next_conditioned_vertex
-- mode:    append temp.conditioned_vertex
-- purpose: The vertices of one depth that agree with the evidence, each with its node in the
--          product of the CEG and the automata of the evidence; edges of the tree are followed
--          by label.
-- reads:   conditioned_vertex, product_edge, edge, level, relabelled_edge
-- writes:  conditioned_vertex(vertex_id, depth, node, source, label_id, level_id, n, weight)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, the stages that the CEG was made from
--          depth INTEGER, edges from the root, >= 1
--          low BIGINT, the first vertex of that depth
--          high BIGINT, the last one
-- source:  docs/theory.md, section 8 (Probability propagation), evidence (c)
select
    e.child_id as vertex_id,
    $depth as depth,
    x.target as node,
    x.source,
    x.label_id,
    e.level_id,
    e.n,
    e.weight
from cegdb.edge as e
inner join temp.conditioned_vertex as v
    on v.depth = $depth - 1 and e.parent_id = v.vertex_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
inner join temp.product_edge as x
    on v.node = x.source and x.label_id = coalesce(r.label_id, l.label_id)
where e.tree_id = $tree_id and e.child_id between $low and $high
