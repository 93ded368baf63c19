-- step:    unnamed_situation
-- mode:    fetch
-- purpose: Number of situations without a given stage. Situations with a single edge count only
--          if each is a stage of its own.
-- reads:   floret, given_group
-- writes:  unnamed_situation(n)
-- params:  is_apart BOOLEAN, whether each situation with a single edge is its own stage
-- source:  serves the summary of a staging
select count(*) as n
from temp.floret
where
    ($is_apart or n_edges > 1)
    and vertex_id not in (select g.vertex_id from temp.given_group as g where g.role = 'stage')
