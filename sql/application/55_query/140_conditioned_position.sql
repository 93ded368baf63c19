-- step:    conditioned_position
-- mode:    append cegdb.position
-- purpose: The positions of a CEG given evidence; each consists of one or more nodes of the
--          product.
-- reads:   conditioned_node, node_position
-- writes:  position(ceg_id, position_id, stage_id, height, n, n_situations)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 8 (Probability propagation), evidence (c)
select
    $ceg_id as ceg_id,
    p.position_id,
    nullif(min(p.stage_id), -1) as stage_id,
    min(p.height) as height,
    cast(sum(c.n) as bigint) as n,
    cast(sum(c.n_situations) as bigint) as n_situations
from temp.conditioned_node as c
inner join temp.node_position as p on c.node = p.node
group by p.position_id
order by p.position_id
