-- step:    node_head
-- mode:    append temp.node
-- purpose: As node_level, where the codes of the children start from a dense id of the path
--          before: the node's code is the one that id stands for.
-- reads:   node, path_head
-- writes:  node(level, code, first, n, weight, n_stopped, n_edges, n_structural, height)
-- params:  level INTEGER, variables on the path to the nodes made
--          radix INTEGER, number of digits of the next variable
--          structural_code INTEGER, its digit for a cell that does not apply
--          chunk INTEGER, the group of variables that ends at this level
-- source:  DESIGN 8
with child as (
    select
        h.code,
        n.code % $radix as digit,
        n.first,
        n.n,
        n.weight,
        n.height
    from temp.node as n
    inner join temp.path_head as h on n.code // $radix = h.head_id
    where n.level = $level + 1 and h.chunk = $chunk
)

select
    $level as level,
    code,
    min(first) as first,
    sum(n) as n,
    sum(weight) as weight,
    coalesce(sum(n) filter (where digit = 0), 0) as n_stopped,
    count(*) filter (where digit > 0) as n_edges,
    count(*) filter (where digit = $structural_code) as n_structural,
    coalesce(max(height) filter (where digit > 0), 0)
    + if(max(digit) > 0 and min(coalesce(nullif(digit, 0), $structural_code)) < $structural_code, 1, 0)
        as height
from child
group by code
