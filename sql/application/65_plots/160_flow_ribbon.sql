-- step:    flow_ribbon
-- mode:    fetch
-- purpose: Number of people who take each answer from one block to another.
-- reads:   flow_link, flow_block
-- writes:  flow_ribbon(source_id, source_column, target_id, target_column, label, n, n_hidden)
-- params:  none
-- source:  serves the plots of flows (cegdb plot)
select
    s.block_id as source_id,
    s.column_index as source_column,
    t.block_id as target_id,
    t.column_index as target_column,
    k.label,
    cast(sum(k.n) as bigint) as n,
    cast(sum(k.n_hidden) as bigint) as n_hidden
from temp.flow_link as k
inner join temp.flow_block as s
    on k.source_id = s.node_id and k.source_column = s.column_index
inner join temp.flow_block as t
    on k.target_id = t.node_id and k.target_column = t.column_index
group by s.block_id, s.column_index, t.block_id, t.column_index, k.label
order by s.column_index, s.block_id, t.column_index, t.block_id, k.label
