-- step:    plain_position
-- mode:    create
-- purpose: The positions whose edges need no adding up: of one situation, or of all those of
--          their stage, whose edges' rows, weights and prior are the stage's.
-- reads:   block, stage
-- writes:  plain_position(position_id, whole_stage_id)
-- params:  staging_id INTEGER, the staging
-- source:  DESIGN 7.2 (positions refine stages)
select
    b.position_id,
    if(b.n_situations = s.n_situations, b.stage_id, null) as whole_stage_id
from temp.block as b
inner join cegdb.stage as s
    on s.staging_id = $staging_id and b.stage_id = s.stage_id
where b.n_situations = s.n_situations or b.n_situations = 1
