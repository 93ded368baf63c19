-- step:    whole_stage
-- mode:    create
-- purpose: The positions that hold all situations of their stage: the rows, weights and prior
--          of their edges are the stage's.
-- reads:   block, stage
-- writes:  whole_stage(position_id, stage_id)
-- params:  staging_id INTEGER, the staging
-- source:  DESIGN 7.2 (positions refine stages)
select
    b.position_id,
    b.stage_id
from temp.block as b
inner join cegdb.stage as s
    on s.staging_id = $staging_id and b.stage_id = s.stage_id
where b.n_situations = s.n_situations
