-- step:    ceg_position
-- mode:    append cegdb.position
-- purpose: The positions, with their stage and how many rows reach them; the sink has none.
-- reads:   position_of, vertex, stage_member
-- writes:  position(ceg_id, position_id, stage_id, height, n, n_situations)
-- params:  ceg_id INTEGER, the CEG
--          tree_id INTEGER, its tree
--          staging_id INTEGER, its stages
-- source:  DESIGN 4
with total as (
    select
        p.position_id,
        cast(sum(v.n) as bigint) as n,
        count(*) as n_situations
    from temp.position_of as p
    inner join cegdb.vertex as v on p.vertex_id = v.vertex_id
    where v.tree_id = $tree_id
    group by p.position_id
)

select
    $ceg_id as ceg_id,
    t.position_id,
    m.stage_id,
    v.height,
    t.n,
    t.n_situations
from total as t
inner join cegdb.vertex as v on v.tree_id = $tree_id and t.position_id = v.vertex_id
left join cegdb.stage_member as m
    on m.staging_id = $staging_id and t.position_id = m.vertex_id
order by t.position_id
