-- step:    flow_block
-- mode:    create
-- purpose: The blocks that the nodes of each column are drawn as: those with most people
--          alone, the rest together as block -2.
-- reads:   flow_node
-- writes:  flow_block(node_id, place, block_id, n, n_hidden)
-- params:  most BIGINT, how many blocks a column has room for
-- source:  serves the plots of flows (cegdb plot)
with ranked as (
    select
        node_id,
        place,
        n,
        n_hidden,
        row_number() over (partition by place order by n desc, node_id asc) as turn,
        count(*) over (partition by place) as n_nodes
    from temp.flow_node
)

select
    node_id,
    place,
    if(n_nodes <= $most or turn < $most or node_id = -1, node_id, -2) as block_id,
    n,
    n_hidden
from ranked
