-- step:    node_level
-- mode:    append temp.node
-- purpose: The nodes one variable higher. The code of a node is that of its children without
--          the last digit. A node without edges is a leaf, whether its rows ended or all
--          stopped. is_gate marks a floret whose only edge is 'not applicable': it is
--          contracted, and its edge does not count towards the height. first_path, the code of
--          the first path through a node, puts nodes in the order of their paths.
-- reads:   node
-- writes:  node(level, code, below, first_path, n, weight, weight_sq, n_stopped, height,
--          is_situation, is_gate)
-- params:  level INTEGER, variables on the path to the nodes made
--          below INTEGER, the level of their children
--          radix INTEGER, number of digits of the next variable
--          structural_code INTEGER, its digit for a cell that does not apply, the last
-- source:  docs/theory.md, section 1 (Event trees from data), steps 3 and 4
with child as (
    select
        code // $radix as code,
        code % $radix as digit,
        first_path,
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
    code as below,
    min(first_path) as first_path,
    sum(n) as n,
    sum(weight) as weight,
    sum(weight_sq) as weight_sq,
    if(max(digit) > 0, coalesce(sum(n) filter (where digit = 0), 0), 0) as n_stopped,
    coalesce(max(height) filter (where digit > 0), 0)
    + if(count(*) filter (where digit between 1 and $structural_code - 1) > 0, 1, 0)
        as height,
    max(digit) > 0 as is_situation,
    max(digit) = $structural_code and count(*) filter (where digit > 0) = 1 as is_gate
from child
group by code
order by code
