-- step:    wide_block
-- mode:    append temp.block
-- purpose: As layer_block, for florets that do not fit in an integer: a floret is the sorted
--          list of its edges.
-- reads:   staged_edge, position_of
-- writes:  block(position_id, stage_id, height, n, n_situations, members)
-- params:  height INTEGER, edges to a leaf on the longest path, >= 1
--          n_digits INTEGER, largest number of labels of a floret
-- source:  Shenvi & Smith (2020), section 3, step i, Theorems 1 and 2;
--          docs/theory.md, section 2 (Positions and the backward recursion), theorems 1' and 2'
with signature as (
    select
        e.vertex_id,
        e.stage_id,
        e.n,
        list_sort(list(coalesce(p.position_index, 1) * $n_digits + e.digit)) as floret
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
