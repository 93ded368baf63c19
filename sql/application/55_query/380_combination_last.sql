-- step:    combination_last
-- mode:    create
-- purpose: The last situation and the last position that each combination certainly reaches.
-- reads:   combination_vertex
-- writes:  combination_last(combination_id, last_situation, last_position)
-- params:  none
-- source:  docs/architecture.md, section Ids;
--          serves answers for each row of a file (assign, complete, score)
select
    combination_id,
    max_by(situation, depth) filter (where situation is not null) as last_situation,
    max_by(position, depth) as last_position
from temp.combination_vertex
group by combination_id
