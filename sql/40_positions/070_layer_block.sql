-- step:    layer_block
-- mode:    append temp.block
-- purpose: The positions of one height in G_{i-1}, where everything lower is merged: blocks
--          of situations with equal signature (stage and floret), named by the smallest. A
--          floret is an integer with the place of each label's position as a digit, or,
--          where that does not fit in 126 bits, the sorted list of its edges. As many blocks
--          as situations: nothing merged, stop.
-- reads:   staged_edge, position_of
-- writes:  block(position_id, stage_id, height, n, n_situations, place, members)
-- params:  height INTEGER, edges to a leaf on the LONGEST path, >= 1 (not the paper's
--          shortest, which misses merges where leaves lie at different depths)
--          n_before BIGINT, positions of lower heights, the sink included: the last place
--          n_bits INTEGER, bits of a digit that holds these places; null: list the edges
--          n_digits INTEGER, the most labels of a floret
-- source:  Shenvi & Smith (2020), section 3, step i, Theorems 1 and 2; SPEC 2.2, Theorems
--          1' and 2'
with signature as (
    select
        e.vertex_id,
        e.stage_id,
        min(e.n) as n,
        bit_or(
            cast(coalesce(p.place, 1) as hugeint) << cast(e.digit * $n_bits as integer)
        ) filter (where $n_bits is not null) as floret,
        list_sort(
            list(coalesce(p.place, 1) * $n_digits + e.digit) filter (where $n_bits is null)
        ) as edges
    from temp.staged_edge as e
    left join temp.position_of as p on e.child_id = p.vertex_id
    where e.height = $height
    group by e.vertex_id, e.stage_id
)

select
    min(vertex_id) as position_id,
    stage_id,
    $height as height,
    sum(n) as n,
    count(*) as n_situations,
    $n_before + row_number() over (order by min(vertex_id)) as place,
    list(vertex_id) as members
from signature
group by stage_id, floret, edges
