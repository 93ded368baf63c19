-- step:    ceg_position
-- mode:    append cegdb.position
-- purpose: The positions, with their stage and the number of respondents who reach them. The
--          sink has no stage.
-- reads:   block
-- writes:  position(ceg_id, position_id, stage_id, height, n, n_situations)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 2 (Positions and the backward recursion);
--          docs/architecture.md, section Tables
select
    $ceg_id as ceg_id,
    position_id,
    stage_id,
    height,
    n,
    n_situations
from temp.block
order by position_id
