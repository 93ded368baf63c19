-- step:    node
-- mode:    create
-- purpose: The ends of the paths: one node a distinct path code, with its rows. A last digit
--          0 marks rows that stopped before; such a node is a record, not a vertex.
-- reads:   path_row
-- writes:  node(level, code, first, n, weight, weight_sq, n_stopped, n_edges, n_structural,
--          height)
-- params:  level INTEGER, number of variables
--          is_weighted BOOLEAN, whether respondents have weights
-- source:  SPEC 1, step 2
select
    cast($level as integer) as level,
    code,
    code as first,
    cast(sum(n) as bigint) as n,
    cast(if($is_weighted, coalesce(sum(weight), 0), null) as decimal(38, 12)) as weight,
    cast(if($is_weighted, coalesce(sum(weight_sq), 0), null) as decimal(38, 12))
        as weight_sq,
    cast(0 as bigint) as n_stopped,
    cast(0 as bigint) as n_edges,
    cast(0 as bigint) as n_structural,
    cast(0 as integer) as height
from temp.path_row
where code >= 0
group by code
