-- step:    masked_tree_edges
-- mode:    create
-- purpose: The view tree_edges for one tree, without hidden counts and without shares computed
--          from one: from the edge, its source and those who stopped there.
-- reads:   tree_edges, hidden_cell
-- writes:  masked_tree_edges(tree, source, label, target, variable, n, weight, share,
--          parent_id, child_id, level_id)
-- params:  object_name VARCHAR, the tree's
-- source:  serves output with small counts hidden (min_n)
select
    e.tree,
    e.source,
    e.label,
    e.target,
    e.variable,
    if(h.owner_id is null, e.n, null) as n,
    if(h.owner_id is null, e.weight, null) as weight,
    if(
        h.owner_id is null and e.parent_id not in (
            select c.owner_id
            from temp.hidden_cell as c
        ),
        e.share,
        null
    ) as share,
    e.parent_id,
    e.child_id,
    e.level_id
from cegdb.tree_edges as e
left join temp.hidden_cell as h on h.kind = 'vertex' and e.child_id = h.owner_id
where e.tree = $object_name
