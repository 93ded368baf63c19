-- step:    current_position
-- mode:    fetch
-- purpose: The positions of a rebuilt CEG that contain the situations of each former position:
--          the first and the last of them, or none if all its situations are gone. The sink
--          stays the sink.
-- reads:   former_position, same_vertex, position, position_member
-- writes:  current_position(position, position_id, now, least_id, most_id)
-- params:  ceg_id INTEGER, the CEG
-- source:  serves making stale objects again after new rows (cegdb rebuild);
--          docs/architecture.md, section Ids
with named as (
    select
        position_id,
        if(
            stage_id is null,
            'w_inf',
            'w' || (row_number() over (order by stage_id is null, position_id) - 1)
        ) as position
    from cegdb.position
    where ceg_id = $ceg_id
),

moved as (
    select
        f.position,
        f.position_id,
        min(coalesce(m.position_id, n.position_id)) as least_id,
        max(coalesce(m.position_id, n.position_id)) as most_id
    from temp.former_position as f
    left join temp.same_vertex as s on f.vertex_id = s.former_id
    left join cegdb.position_member as m on m.ceg_id = $ceg_id and s.vertex_id = m.vertex_id
    left join named as n on f.position = 'w_inf' and n.position = 'w_inf'
    group by f.position, f.position_id
)

select
    m.position,
    m.position_id,
    n.position as now,
    m.least_id,
    m.most_id
from moved as m
left join named as n on m.least_id = n.position_id
order by m.position_id
