-- step:    node_head
-- mode:    append temp.node
-- purpose: The nodes at which a group of variables ends: the codes below start from a dense
--          id of the path so far, and the node's code is the one that id stands for.
-- reads:   node, path_head
-- writes:  node(level, code, first, n, weight, weight_sq, n_stopped, n_edges, n_structural,
--          height)
-- params:  level INTEGER, variables on the path to the nodes made
--          below INTEGER, the level that holds them by dense id
--          chunk INTEGER, the group of variables
-- source:  DESIGN 8
select
    $level as level,
    h.code,
    n.first,
    n.n,
    n.weight,
    n.weight_sq,
    n.n_stopped,
    n.n_edges,
    n.n_structural,
    n.height
from temp.node as n
inner join temp.path_head as h on n.code = h.head_id
where n.level = $below and h.chunk = $chunk
