-- step:    split_outsider
-- mode:    fetch
-- purpose: The first situation or path named for a part of a stage that matches no situation of
--          the stage. A path with wildcards may match situations of other stages too.
-- reads:   split_row
-- writes:  split_outsider(vertex_id)
-- params:  none
-- source:  serves joining, splitting and renaming stages by hand
select min(vertex_id) as vertex_id
from temp.split_row
group by name, path_id, situation
having not bool_or(is_in_stage)
order by vertex_id
limit 1
