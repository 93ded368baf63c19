-- step:    regrouped_member
-- mode:    append temp.changed_member
-- purpose: All situations of a staging, each under its own name or that of its hyperstage.
-- reads:   recorded_member
-- writes:  changed_member(vertex_id, name)
-- params:  is_full BOOLEAN, whether each situation is its own stage
-- source:  serves the staged trees full() and indep(), as in the R package stagedtrees
select
    vertex_id,
    cast(if($is_full, vertex_id, hyperstage_id) as varchar) as name
from temp.recorded_member
