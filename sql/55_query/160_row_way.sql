-- step:    row_way
-- mode:    append temp.row_way
-- purpose: The edges of one height of the CEG that agree with the answers of each combination
--          which reaches their source; an edge that jumps over an answered variable does not.
-- reads:   row_way, query_node, given_cell, query_edge
-- writes:  row_way(height, combination_id, edge, source, target, target_height,
--          log_probability)
-- params:  height INTEGER, of the positions, the highest first
-- source:  SPEC 8
with here as (
    select distinct
        combination_id,
        target as node
    from temp.row_way
    where target_height = $height
)

select
    $height as height,
    h.combination_id,
    e.edge,
    h.node as source,
    e.target,
    e.target_height,
    e.log_probability
from here as h
inner join temp.query_node as n on h.node = n.node
inner join temp.given_cell as c on h.combination_id = c.combination_id and n.rank = c.rank
inner join temp.query_edge as e on h.node = e.source and c.answer = e.code
where c.next_rank >= e.target_rank
