-- step:    stage_block
-- mode:    append temp.block
-- purpose: The positions of height 1 when no floret lacks a label of its stage. All edges lead
--          to the sink, so the situations of one stage form one position. Members are not
--          listed here.
-- reads:   staged_situation
-- writes:  block(position_id, stage_id, height, n, n_situations)
-- params:  none
-- source:  Shenvi & Smith (2020), section 3, step 2;
--          docs/theory.md, section 2 (Positions and the backward recursion)
select
    min(vertex_id) as position_id,
    stage_id,
    1 as height,
    sum(n) as n,
    count(*) as n_situations
from temp.staged_situation
where height = 1
group by stage_id
