-- step:    drawn_block
-- mode:    fetch
-- purpose: The blocks of a flow with their names, colours and counts. The end (-1) and the rest
--          (-2) have no name.
-- reads:   flow_block
-- writes:  drawn_block(block_id, column_index, name, colour, n, n_hidden, n_nodes)
-- params:  none
-- source:  serves the plots of flows (cegdb plot)
select
    b.block_id,
    b.column_index,
    if(b.block_id < 0, '', min(b.name)) as name,
    if(b.block_id < 0, '#ffffff', min(b.colour)) as colour,
    cast(sum(b.n) as bigint) as n,
    cast(sum(b.n_hidden) as bigint) as n_hidden,
    count(*) as n_nodes
from temp.flow_block as b
group by b.block_id, b.column_index
order by b.column_index, b.block_id
