-- step:    collapsed_edge
-- mode:    fetch
-- purpose: The edges of an overview of a CEG that stand for several edges or leave collapsed
--          positions, with the label if all have the same.
-- reads:   labels, node_edge
-- writes:  collapsed_edge(source_node, target_node, label, n_labels, n, weight)
-- params:  survey_id INTEGER, the survey
-- source:  serves the overview of large graphs (cegdb draw)
select
    e.source_node,
    e.target_node,
    if(e.n_labels = 1, l.label, null) as label,
    e.n_labels,
    e.n,
    e.weight
from temp.node_edge as e
inner join cegdb.labels as l on e.label_id = l.label_id
where l.survey_id = $survey_id and (e.n_edges > 1 or e.source_node < 0)
order by e.source_node < 0, abs(e.source_node), e.target_node < 0, abs(e.target_node)
