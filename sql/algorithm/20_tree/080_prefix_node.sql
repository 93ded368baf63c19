-- step:    prefix_node
-- mode:    append temp.node
-- purpose: The nodes at which a group of variables ends. Codes below start from a consecutive
--          id of the path so far; here the nodes get the code that this id stands for.
-- reads:   node, path_prefix
-- writes:  node(level, code, below, first_path, n, weight, weight_sq, n_stopped, height,
--          is_situation, is_gate)
-- params:  level INTEGER, variables on the path to the nodes made
--          below INTEGER, the level that holds them by the id of their path
--          chunk INTEGER, the group of variables
-- source:  docs/architecture.md, section Scale
select
    $level as level,
    h.code,
    n.code as below,
    n.first_path,
    n.n,
    n.weight,
    n.weight_sq,
    n.n_stopped,
    n.height,
    n.is_situation,
    n.is_gate
from temp.node as n
inner join temp.path_prefix as h on n.code = h.prefix_id
where n.level = $below and h.chunk = $chunk
order by h.code
