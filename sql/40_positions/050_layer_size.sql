-- step:    layer_size
-- mode:    fetch
-- purpose: How many situations and positions one height has, and how many edges the merge
--          takes out of the graph; no fewer positions than situations: stop.
-- reads:   layer_block
-- writes:  layer_size(n_situations, n_positions, n_edges_gone)
-- params:  none
-- source:  Shenvi & Smith (2020), Theorem 2; SPEC 2.2, Theorem 2'
select
    coalesce(sum(len(members)), 0) as n_situations,
    count(*) as n_positions,
    coalesce(sum((len(members) - 1) * n_edges), 0) as n_edges_gone
from temp.layer_block
