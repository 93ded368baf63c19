-- step:    check_sink
-- mode:    fetch
-- purpose: CEGs with no sink or several, and sinks that are not the only position of height 0,
--          the only one without a stage and the only one without edges.
-- reads:   ceg, position, ceg_edge
-- writes:  check_sink(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Ids
with sinks as (
    select
        ceg_id,
        count(*) as n_sinks
    from cegdb.position
    where stage_id is null
    group by ceg_id
),

sources as (
    select
        ceg_id,
        source_id,
        count(*) as n_edges
    from cegdb.ceg_edge
    group by ceg_id, source_id
)

select
    'a CEG has one sink' as invariant,
    'ceg' as kind,
    c.name,
    cast(null as bigint) as row_id,
    concat(coalesce(s.n_sinks, 0), ' positions have no stage') as detail
from cegdb.ceg as c
left join sinks as s on c.ceg_id = s.ceg_id
where coalesce(s.n_sinks, 0) <> 1
union all
select
    'the sink alone has no stage, height 0 and no edges' as invariant,
    'ceg' as kind,
    c.name,
    p.position_id as row_id,
    concat(
        'position ', p.position_id, ' has ', if(p.stage_id is null, 'no stage', 'a stage'),
        ', height ', p.height, ' and ', coalesce(s.n_edges, 0), ' edges'
    ) as detail
from cegdb.position as p
inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
left join sources as s on p.ceg_id = s.ceg_id and p.position_id = s.source_id
where
    (p.stage_id is null) <> (p.height = 0)
    or (p.stage_id is null) <> (s.n_edges is null)
order by invariant, name, row_id, detail
