-- step:    flow_ribbon
-- mode:    fetch
-- purpose: How many people take an answer from one block to another.
-- reads:   flow_link, flow_block
-- writes:  flow_ribbon(source_id, source_place, target_id, target_place, label, n, n_hidden)
-- params:  none
-- source:  serves the plots of flows (cegdb plot)
select
    s.block_id as source_id,
    s.place as source_place,
    t.block_id as target_id,
    t.place as target_place,
    k.label,
    cast(sum(k.n) as bigint) as n,
    cast(sum(k.n_hidden) as bigint) as n_hidden
from temp.flow_link as k
inner join temp.flow_block as s
    on k.source_id = s.node_id and k.source_place = s.place
inner join temp.flow_block as t
    on k.target_id = t.node_id and k.target_place = t.place
group by s.block_id, s.place, t.block_id, t.place, k.label
order by s.place, s.block_id, t.place, t.block_id, k.label
