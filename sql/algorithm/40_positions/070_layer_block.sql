-- step:    layer_block
-- mode:    append temp.block
-- purpose: The positions of one height in G_{i-1}, where everything below is merged already:
--          blocks of situations with the same signature, that is, the same stage and floret.
--          The id of a block is that of its smallest situation. A floret is written as one
--          integer; its digit for a label is the index of the position that the label leads to.
--          If there are as many blocks as situations, nothing merged and the recursion stops.
-- reads:   staged_edge, position_of
-- writes:  block(position_id, stage_id, height, n, n_situations, members)
-- params:  height INTEGER, edges to a leaf on the LONGEST path, >= 1 (not the paper's
--          shortest, which misses merges where leaves lie at different depths)
--          n_bits INTEGER, bits per digit: enough for the index of any lower position
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
