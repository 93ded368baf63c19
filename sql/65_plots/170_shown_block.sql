-- step:    shown_block
-- mode:    fetch
-- purpose: The blocks of a flow with their names, colours and people.
-- reads:   flow_block, flow_name
-- writes:  shown_block(block_id, place, name, colour, n, n_hidden, n_nodes)
-- params:  none
-- source:  serves the plots of flows (cegdb plot)
select
    b.block_id,
    b.place,
    coalesce(min(m.name), '') as name,
    coalesce(min(m.colour), '#ffffff') as colour,
    cast(sum(b.n) as bigint) as n,
    cast(sum(b.n_hidden) as bigint) as n_hidden,
    count(*) as n_nodes
from temp.flow_block as b
left join temp.flow_name as m on b.block_id = m.node_id
group by b.block_id, b.place
order by b.place, b.block_id
