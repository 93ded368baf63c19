-- step:    position_cell
-- mode:    create
-- purpose: The respondents of a CEG as a flow from the root to the sink, and out of the
--          positions where some stop: into a position, through it, and out by its edges.
-- reads:   position, ceg_edge
-- writes:  position_cell(cell, kind, owner_id, label_id, tail, head, n)
-- params:  ceg_id INTEGER, the CEG
-- source:  serves output with small counts hidden (min_n)
with flow as (
    select
        'position' as kind,
        p.position_id as owner_id,
        null as label_id,
        if(p.position_id = 0, 0, 2 * p.position_id + 1) as tail,
        if(p.stage_id is null, 0, 2 * p.position_id + 2) as head,
        p.n
    from cegdb.position as p
    where p.ceg_id = $ceg_id
    union all
    select
        'edge' as kind,
        e.source_id as owner_id,
        e.label_id,
        2 * e.source_id + 2 as tail,
        2 * e.target_id + 1 as head,
        e.n
    from cegdb.ceg_edge as e
    where e.ceg_id = $ceg_id
    union all
    select
        'stopped' as kind,
        p.position_id as owner_id,
        null as label_id,
        2 * p.position_id + 2 as tail,
        0 as head,
        p.n - sum(e.n) as n
    from cegdb.position as p
    inner join cegdb.ceg_edge as e
        on p.ceg_id = e.ceg_id and p.position_id = e.source_id
    where p.ceg_id = $ceg_id
    group by p.position_id, p.n
)

select
    row_number() over (order by f.kind, f.owner_id, f.label_id) as cell,
    f.kind,
    f.owner_id,
    f.label_id,
    f.tail,
    f.head,
    cast(f.n as bigint) as n
from flow as f
