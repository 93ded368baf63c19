-- step:    stage_situation
-- mode:    append temp.position_of
-- purpose: Assigns each situation of height 1 to the position of its stage.
-- reads:   staged_situation, block
-- writes:  position_of(vertex_id, position_id, position_index)
-- params:  none
-- source:  Shenvi & Smith (2020), section 3, step 2;
--          docs/theory.md, section 2 (Positions and the backward recursion)
select
    s.vertex_id,
    b.position_id,
    b.rowid - f.first_row + 1 as position_index
from temp.staged_situation as s
inner join temp.block as b on b.height = 1 and s.stage_id = b.stage_id
cross join (select min(o.rowid) as first_row from temp.block as o) as f
where s.height = 1
