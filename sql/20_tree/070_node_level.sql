-- step:    node_level
-- mode:    append temp.node
-- purpose: The nodes one variable above: a node's code is its children's without their last
--          digit. An edge counts for the height unless it is a 'not applicable' alone in
--          its floret, which will vanish. first orders nodes by path.
-- reads:   node
-- writes:  node(level, code, first, n, weight, weight_sq, n_stopped, n_edges, n_structural,
--          height)
-- params:  level INTEGER, variables on the path to the nodes made
--          below INTEGER, the level of their children
--          radix INTEGER, number of digits of the next variable
--          structural_code INTEGER, its digit for a cell that does not apply
-- source:  SPEC 1, steps 3 and 4
with child as (
    select
        code // $radix as code,
        code % $radix as digit,
        first,
        n,
        weight,
        weight_sq,
        height
    from temp.node
    where level = $below
)

select
    $level as level,
    code,
    min(first) as first,
    sum(n) as n,
    sum(weight) as weight,
    sum(weight_sq) as weight_sq,
    coalesce(sum(n) filter (where digit = 0), 0) as n_stopped,
    count(*) filter (where digit > 0) as n_edges,
    count(*) filter (where digit = $structural_code) as n_structural,
    coalesce(max(height) filter (where digit > 0), 0)
    + if(count(*) filter (where digit between 1 and $structural_code - 1) > 0, 1, 0)
        as height
from child
group by code
