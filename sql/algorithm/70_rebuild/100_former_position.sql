-- step:    former_position
-- mode:    create
-- purpose: The positions of a CEG to rebuild, by the names that evidence may use, with their
--          situations; the sink has none.
-- reads:   position, position_member
-- writes:  former_position(position, position_id, vertex_id)
-- params:  ceg_id INTEGER, the CEG
-- source:  serves making stale objects again after new rows (cegdb rebuild);
--          docs/architecture.md, section Ids
with named as (
    select
        position_id,
        stage_id,
        if(
            stage_id is null,
            'w_inf',
            'w' || (row_number() over (order by stage_id is null, position_id) - 1)
        ) as position
    from cegdb.position
    where ceg_id = $ceg_id
)

select
    p.position,
    p.position_id,
    m.vertex_id
from named as p
left join cegdb.position_member as m
    on m.ceg_id = $ceg_id and p.position_id = m.position_id and p.stage_id is not null
