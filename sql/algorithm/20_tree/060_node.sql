-- step:    node
-- mode:    create
-- purpose: The ends of the paths: one node for each distinct path code, with its rows. A last
--          digit 0 marks rows that stopped before; such a node is a record, not a vertex.
--          Without weights their columns are narrow, and null.
-- reads:   path_end, weighted_path_end or path_row
-- writes:  node(level, code, below, first_path, n, weight, weight_sq, n_stopped, height,
--          is_situation, is_gate)
-- params:  level INTEGER, number of variables
--          paths VARCHAR, temp.path_end, or temp.weighted_path_end; or temp.path_row where
--          every row has a path of its own
-- source:  docs/theory.md, section 1 (Event trees from data), step 2
select
    cast($level as integer) as level,
    code,
    code as below,
    code as first_path,
    n,
    weight,
    weight_sq,
    cast(0 as bigint) as n_stopped,
    cast(0 as integer) as height,
    false as is_situation,
    false as is_gate
from query_table($paths)
order by code
