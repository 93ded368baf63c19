-- step:    network_edge
-- mode:    create
-- purpose: The edges of a staged tree as answers of a network: the index of their variable in
--          the order of the tree, their label in the staging (-1: not applicable) and their
--          probability.
-- reads:   edge, level, stage_member, stage_edge, relabelled_edge
-- writes:  network_edge(vertex_id, child_id, variable_index, label_id, level_id, probability)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its staging
--          variable_ids INTEGER[], the variables in the order of the tree
-- source:  docs/theory.md, section 10 (Bayesian networks)
select
    e.parent_id as vertex_id,
    e.child_id,
    list_position(cast($variable_ids as integer[]), l.variable_id) as variable_index,
    if(l.kind = 'structural', -1, coalesce(r.label_id, l.label_id)) as label_id,
    e.level_id,
    a.probability
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
inner join cegdb.stage_member as m
    on m.staging_id = $staging_id and e.parent_id = m.vertex_id
left join cegdb.relabelled_edge as r
    on r.staging_id = $staging_id and e.child_id = r.child_id
inner join cegdb.stage_edge as a
    on
        a.staging_id = $staging_id
        and m.stage_id = a.stage_id
        and a.label_id = coalesce(r.label_id, l.label_id)
where e.tree_id = $tree_id
