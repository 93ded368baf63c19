-- step:    collapsed_position
-- mode:    create
-- purpose: The nodes of an overview of a CEG that stand for several positions: how many, and
--          the people who enter the node (null if one of the counts is hidden).
-- reads:   overview_position, node_edge
-- writes:  collapsed_position(node_id, column_index, n_hidden, n)
-- params:  none
-- source:  serves the overview of large graphs (cegdb draw)
with hidden as (
    select
        p.node_id,
        min(p.column_index) as column_index,
        count(*) as n_hidden
    from temp.overview_position as p
    where p.node_id < 0
    group by p.node_id
)

select
    h.node_id,
    h.column_index,
    h.n_hidden,
    if(count(*) > count(e.n), null, cast(sum(e.n) as bigint)) as n
from hidden as h
inner join temp.node_edge as e on h.node_id = e.target_node
group by h.node_id, h.column_index, h.n_hidden
