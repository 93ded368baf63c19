-- step:    placed
-- mode:    create
-- purpose: The root, where the walk down the nodes begins. is_gate marks a floret whose only
--          edge is 'not applicable': it vanishes, and the child takes its place.
-- reads:   node
-- writes:  placed(level, code, first, depth, parent_first, level_id, n, weight, weight_sq,
--          n_stopped, n_edges, height, is_gate)
-- params:  none
-- source:  SPEC 1, step 4
select
    level,
    code,
    first,
    cast(0 as integer) as depth,
    cast(null as bigint) as parent_first,
    cast(null as integer) as level_id,
    n,
    weight,
    weight_sq,
    n_stopped,
    n_edges,
    height,
    n_edges = 1 and n_structural = 1 as is_gate
from temp.node
where level = 0
