-- step:    floret_size
-- mode:    create
-- purpose: The number of edges of each situation.
-- reads:   edge
-- writes:  floret_size(vertex_id, n_edges)
-- params:  tree_id INTEGER, the tree
-- source:  SPEC 6
select
    parent_id as vertex_id,
    count(*) as n_edges
from cegdb.edge
where tree_id = $tree_id
group by parent_id
