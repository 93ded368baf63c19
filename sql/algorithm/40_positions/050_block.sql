-- step:    block
-- mode:    create
-- purpose: Step 1 of the recursion: all leaves merge into the sink. It is the first block, and
--          its id is that of the smallest leaf. Its members are not listed here.
-- reads:   vertex
-- writes:  block(position_id, stage_id, height, n, n_situations, members)
-- params:  tree_id INTEGER, the tree
-- source:  Shenvi & Smith (2020), section 3, step 1;
--          docs/theory.md, section 2 (Positions and the backward recursion)
select
    min(vertex_id) as position_id,
    cast(null as bigint) as stage_id,
    0 as height,
    cast(sum(n) as bigint) as n,
    count(*) as n_situations,
    cast([] as bigint[]) as members
from cegdb.vertex
where tree_id = $tree_id and variable_id is null
