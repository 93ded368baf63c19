-- step:     hidden_node_edge
-- mode:     fetch
-- purpose:  The edges of an overview of a CEG whose people are left out, since one that they
--           stand for has a hidden count.
-- reads:    ceg_edge, position_node, hidden_cell
-- writes:   hidden_node_edge(source_node, target_node)
-- params:   ceg_id INTEGER, the CEG
-- source:   none
select distinct
    s.node_id as source_node,
    t.node_id as target_node
from cegdb.ceg_edge as e
inner join temp.position_node as s on e.source_id = s.position_id
inner join temp.position_node as t on e.target_id = t.position_id
inner join temp.hidden_cell as h
    on h.kind = 'edge' and e.source_id = h.owner_id and e.label_id = h.label_id
where e.ceg_id = $ceg_id and s.node_id <> t.node_id and (s.node_id < 0 or t.node_id < 0)
