-- step:    floret
-- mode:    create
-- purpose: The floret of each situation: its variable, label set, number of edges and rows.
-- reads:   edge, level
-- writes:  floret(vertex_id, variable_id, labels, n_edges, n)
-- params:  tree_id INTEGER, the tree
-- source:  SPEC 0
select
    e.parent_id as vertex_id,
    min(l.variable_id) as variable_id,
    list_sort(list(l.label_id)) as labels,
    count(*) as n_edges,
    cast(sum(e.n) as bigint) as n
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id
group by e.parent_id
