-- step:    row_best
-- mode:    create
-- purpose: The start of the most probable path, at the root, of each possible combination that
--          leaves variables open.
-- reads:   row_score, row_root_edge
-- writes:  row_best(height, combination_id, node, completion)
-- params:  root_height INTEGER, height of the root
-- source:  docs/theory.md, section 8 (Probability propagation), most probable path;
--          serves answers for each row of a file (assign, complete, score)
select
    cast($root_height as integer) as height,
    s.combination_id,
    0 as node,
    cast(null as varchar) as completion
from temp.row_score as s
where
    s.n_open > 0
    and s.log_best is not null
    and exists (
        select 1
        from temp.row_root_edge as t
        where t.combination_id = s.combination_id
    )
