-- step:    node
-- mode:    create
-- purpose: The ends of the paths: one node per distinct path code, with its counts. A last
--          digit of 0 marks rows that stopped before; such a node is a record, not a vertex.
--          Weights have the type they have in path_end, a narrow one if there are none.
-- reads:   path_end
-- writes:  node(level, code, below, first, n, weight, weight_sq, n_stopped, height,
--          is_situation, is_gate)
-- params:  level INTEGER, number of variables
-- source:  docs/theory.md, section 1 (Event trees from data), step 2
select
    cast($level as integer) as level,
    code,
    code as below,
    code as first,
    n,
    weight,
    weight_sq,
    cast(0 as bigint) as n_stopped,
    cast(0 as integer) as height,
    false as is_situation,
    false as is_gate
from temp.path_end
order by code
