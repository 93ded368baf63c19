-- step:    next_path_edge
-- mode:    append temp.row_path_edge
-- purpose: The edges of one height of the CEG that agree with each combination that reaches
--          their source; an edge that jumps over an answered variable does not agree.
-- reads:   row_path_edge, query_node, row_cell, query_edge
-- writes:  row_path_edge(height, combination_id, edge, source, target, target_height,
--          log_probability)
-- params:  height INTEGER, of the positions, the highest first
-- source:  docs/theory.md, section 8 (Probability propagation);
--          serves answers for each row of a file (assign, complete, score)
with here as (
    select distinct
        combination_id,
        target as node
    from temp.row_path_edge
    where target_height = $height
),

matched as materialized (
    select
        h.combination_id,
        h.node,
        c.answer,
        c.next_rank
    from here as h
    inner join temp.query_node as n on h.node = n.node
    inner join temp.row_cell as c on h.combination_id = c.combination_id and n.rank = c.rank
)

select
    $height as height,
    a.combination_id,
    e.edge,
    a.node as source,
    e.target,
    e.target_height,
    e.log_probability
from matched as a
inner join temp.query_edge as e on a.node = e.source and a.answer = e.code
where a.next_rank >= e.target_rank
