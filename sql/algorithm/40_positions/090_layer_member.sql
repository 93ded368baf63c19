-- step:    layer_member
-- mode:    append temp.position_of
-- purpose: Assigns the members of the newest blocks to their position.
-- reads:   block
-- writes:  position_of(vertex_id, position_id, position_index)
-- params:  height INTEGER, the lowest height of the newest blocks
-- source:  Shenvi & Smith (2020), section 3, step i;
--          docs/theory.md, section 2 (Positions and the backward recursion)
select
    unnest(b.members) as vertex_id,
    b.position_id,
    b.rowid - f.first_row + 1 as position_index
from temp.block as b
cross join (select min(o.rowid) as first_row from temp.block as o) as f
where b.height >= $height
