-- step:    former_learnt_stage
-- mode:    append temp.learnt_stage
-- purpose: The stages learnt before the rebuild, for the situations that learning would use.
-- reads:   remaining_situation, floret
-- writes:  learnt_stage(vertex_id, stage_id)
-- params:  none
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    k.vertex_id,
    k.stage_id
from temp.remaining_situation as k
inner join temp.floret as f on k.vertex_id = f.vertex_id
where k.kind = 'learnt' and f.n_edges > 1 and f.n > 0
