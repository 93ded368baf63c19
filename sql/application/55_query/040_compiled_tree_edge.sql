-- step:    compiled_tree_edge
-- mode:    create
-- purpose: The edges of a staged tree: the rank of the label among the levels of the variable,
--          the label in the tree, and the probability of the stage. All leaves are one sink.
-- reads:   edge, level, relabelled_edge, compiled_situation, stage_edge
-- writes:  compiled_tree_edge(source_id, height, variable_id, target_id, label_id, raw_label,
--          level_order, probability)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          sink_id BIGINT, of the leaves
-- source:  docs/theory.md, section 8 (Probability propagation)
with ordered as (
    select
        variable_id,
        label_id,
        min(level_id) as level_order
    from cegdb.level
    group by variable_id, label_id
)

select
    e.parent_id as source_id,
    s.height,
    s.variable_id,
    coalesce(t.position_id, $sink_id) as target_id,
    g.label_id,
    l.label as raw_label,
    coalesce(o.level_order, 2147483647) as level_order,
    g.probability
from cegdb.edge as e
inner join temp.compiled_situation as s on e.parent_id = s.position_id
inner join cegdb.level as l on e.level_id = l.level_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
inner join cegdb.stage_edge as g
    on
        g.staging_id = $staging_id
        and s.stage_id = g.stage_id
        and coalesce(r.label_id, l.label_id) = g.label_id
left join ordered as o on s.variable_id = o.variable_id and g.label_id = o.label_id
left join temp.compiled_situation as t on e.child_id = t.position_id
where e.tree_id = $tree_id
