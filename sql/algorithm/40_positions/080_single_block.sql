-- step:    single_block
-- mode:    append temp.block
-- purpose: Above the height at which the recursion stops, every situation is its own position.
-- reads:   staged_situation
-- writes:  block(position_id, stage_id, height, n, n_situations, members)
-- params:  height INTEGER, the lowest height not processed yet
-- source:  Shenvi & Smith (2020), Theorem 2;
--          docs/theory.md, section 2 (Positions and the backward recursion), theorem 2'
select
    vertex_id as position_id,
    stage_id,
    height,
    n,
    1 as n_situations,
    [vertex_id] as members
from temp.staged_situation
where height >= $height
