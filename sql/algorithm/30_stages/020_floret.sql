-- step:    floret
-- mode:    create
-- purpose: The floret of each situation: its variable, label set, number of edges and count.
-- reads:   situation_edge
-- writes:  floret(vertex_id, variable_id, labels, n_edges, n)
-- params:  none
-- source:  docs/theory.md, section 0 (Notation and definitions)
select
    vertex_id,
    min(variable_id) as variable_id,
    list_sort(list(label_id)) as labels,
    count(*) as n_edges,
    cast(sum(n) as bigint) as n
from temp.situation_edge
group by vertex_id
