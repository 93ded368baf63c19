-- step:    layer_block
-- mode:    append temp.block
-- purpose: The positions of one height in G_{i-1}, where everything lower is merged: blocks
--          of situations with equal signature (stage and floret), named by the smallest. A
--          floret is an integer with the index of the position under each label as a digit.
--          As many blocks as situations: nothing merged, stop.
-- reads:   staged_edge, position_of
-- writes:  block(position_id, stage_id, height, n, n_situations, members)
-- params:  height INTEGER, edges to a leaf on the LONGEST path, >= 1 (not the paper's
--          shortest, which misses merges where leaves lie at different depths)
--          n_bits INTEGER, of a digit that holds the indices of lower heights
-- source:  Shenvi & Smith (2020), section 3, step i, Theorems 1 and 2;
--          docs/theory.md, section 2 (Positions and the backward recursion), theorems 1' and 2'
with signature as (
    select
        e.vertex_id,
        e.stage_id,
        e.n,
        bit_or(
            cast(coalesce(p.position_index, 1) as hugeint) << cast(e.digit * $n_bits as integer)
        ) as floret
    from temp.staged_edge as e
    left join temp.position_of as p on e.child_id = p.vertex_id
    where e.height = $height
    group by e.vertex_id, e.stage_id, e.n
)

select
    min(vertex_id) as position_id,
    stage_id,
    $height as height,
    sum(n) as n,
    count(*) as n_situations,
    list(vertex_id) as members
from signature
group by stage_id, floret
