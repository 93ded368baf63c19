-- step:    node_edge
-- mode:    create
-- purpose: The edges of an overview of a CEG: those between drawn positions, and one for each
--          pair of nodes of which at least one is collapsed, without a count if one of the
--          counts is hidden. label_id is the smallest of n_labels.
-- reads:   ceg_edge, overview_position, hidden_cell
-- writes:  node_edge(source_node, target_node, source_id, label_id, n_edges, n_labels, n,
--          weight)
-- params:  ceg_id INTEGER, the CEG
-- source:  serves the overview of large graphs (cegdb draw)
with flow as (
    select
        s.node_id as source_node,
        t.node_id as target_node,
        e.source_id,
        e.label_id,
        e.n,
        e.weight,
        h.owner_id is not null as is_hidden
    from cegdb.ceg_edge as e
    inner join temp.overview_position as s on e.source_id = s.position_id
    inner join temp.overview_position as t on e.target_id = t.position_id
    left join temp.hidden_cell as h
        on h.kind = 'edge' and e.source_id = h.owner_id and e.label_id = h.label_id
    where e.ceg_id = $ceg_id and s.node_id <> t.node_id
)

select
    f.source_node,
    f.target_node,
    min(f.source_id) as source_id,
    min(f.label_id) as label_id,
    count(*) as n_edges,
    count(distinct f.label_id) as n_labels,
    if(bool_or(f.is_hidden), null, cast(sum(f.n) as bigint)) as n,
    if(bool_or(f.is_hidden), null, sum(f.weight)) as weight
from flow as f
group by
    f.source_node,
    f.target_node,
    if(f.source_node >= 0 and f.target_node >= 0, f.label_id, null)
