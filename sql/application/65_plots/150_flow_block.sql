-- step:    flow_block
-- mode:    create
-- purpose: The block in which each node of a column is drawn: a block of its own for those with
--          most people, block -2 for all others.
-- reads:   flow_node
-- writes:  flow_block(node_id, column_index, block_id, name, colour, n, n_hidden)
-- params:  most BIGINT, largest number of blocks in a column
-- source:  serves the plots of flows (cegdb plot)
with ranked as (
    select
        node_id,
        column_index,
        name,
        colour,
        n,
        n_hidden,
        row_number() over (partition by column_index order by n desc, node_id asc) as turn,
        count(*) over (partition by column_index) as n_nodes
    from temp.flow_node
)

select
    node_id,
    column_index,
    if(n_nodes <= $most or turn < $most or node_id = -1, node_id, -2) as block_id,
    name,
    colour,
    n,
    n_hidden
from ranked
