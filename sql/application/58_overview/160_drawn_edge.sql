-- step:    drawn_edge
-- mode:    create
-- purpose: The edges of a CEG that an overview draws as themselves, with the node each leads
--          to.
-- reads:   node_edge
-- writes:  drawn_edge(source_id, label_id, target_node)
-- params:  none
-- source:  serves the overview of large graphs (cegdb draw)
select
    e.source_id,
    e.label_id,
    e.target_node
from temp.node_edge as e
where e.n_edges = 1 and e.source_node >= 0
