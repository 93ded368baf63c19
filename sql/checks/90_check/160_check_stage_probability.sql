-- step:    check_stage_probability
-- mode:    fetch
-- purpose: Stages whose probabilities or shares do not sum to 1 (within 1e-9), and edges of
--          stages and CEGs with an impossible probability, interval or prior mass.
-- reads:   staging, stage_edge, ceg, ceg_edge
-- writes:  check_stage_probability(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 5
with totals as (
    select
        staging_id,
        stage_id,
        count(*) as n_edges,
        sum(probability) as probability,
        coalesce(sum(share), 1) as share
    from cegdb.stage_edge
    group by staging_id, stage_id
)

select
    'the probabilities of a stage sum to 1' as invariant,
    'staging' as kind,
    g.name,
    t.stage_id as row_id,
    concat('those of stage ', t.stage_id, ' sum to ', t.probability) as detail
from totals as t
inner join cegdb.staging as g on t.staging_id = g.staging_id
where not coalesce(abs(t.probability - 1) <= 1e-9, false)
union all
select
    'the shares of a stage sum to 1' as invariant,
    'staging' as kind,
    g.name,
    t.stage_id as row_id,
    concat('those of stage ', t.stage_id, ' sum to ', t.share) as detail
from totals as t
inner join cegdb.staging as g on t.staging_id = g.staging_id
where not abs(t.share - 1) <= 1e-9
union all
select
    'probabilities and intervals lie from 0 to 1' as invariant,
    'staging' as kind,
    g.name,
    e.stage_id as row_id,
    concat(
        'stage ', e.stage_id, ', label ', e.label_id, ': ', e.probability, ', interval ',
        coalesce(e.low, 0), ' to ', coalesce(e.high, 1)
    ) as detail
from cegdb.stage_edge as e
inner join cegdb.staging as g on e.staging_id = g.staging_id
where
    not e.probability between 0 and 1
    or not coalesce(e.low, 0) between 0 and coalesce(e.high, 1)
    or coalesce(e.high, 1) > 1
union all
select
    'each edge of several has an interval' as invariant,
    'staging' as kind,
    g.name,
    e.stage_id as row_id,
    concat(
        'stage ', e.stage_id, ' has ', t.n_edges, ' edges, label ', e.label_id, ' has ',
        if(e.low is null or e.high is null, 'no', 'an'), ' interval'
    ) as detail
from cegdb.stage_edge as e
inner join totals as t on e.staging_id = t.staging_id and e.stage_id = t.stage_id
inner join cegdb.staging as g on e.staging_id = g.staging_id
where (t.n_edges > 1 and e.low is null) or (e.low is null) <> (e.high is null)
union all
select
    'an interval contains its probability' as invariant,
    'staging' as kind,
    g.name,
    e.stage_id as row_id,
    concat(
        'stage ', e.stage_id, ', label ', e.label_id, ': ', e.probability, ', interval ',
        e.low, ' to ', e.high
    ) as detail
from cegdb.stage_edge as e
inner join cegdb.staging as g on e.staging_id = g.staging_id
where not e.probability between e.low and e.high
union all
select
    'an interval contains its probability' as invariant,
    'ceg' as kind,
    c.name,
    e.source_id as row_id,
    concat(
        'position ', e.source_id, ', label ', e.label_id, ': ', e.probability, ', interval ',
        e.low, ' to ', e.high
    ) as detail
from cegdb.ceg_edge as e
inner join cegdb.ceg as c on e.ceg_id = c.ceg_id
where not e.probability between e.low and e.high
union all
select
    'prior masses are above 0' as invariant,
    'staging' as kind,
    g.name,
    e.stage_id as row_id,
    concat('stage ', e.stage_id, ', label ', e.label_id, ' has prior mass ', e.prior) as detail
from cegdb.stage_edge as e
inner join cegdb.staging as g on e.staging_id = g.staging_id
where not (e.prior > 0 and e.prior < 'infinity')
order by invariant, name, row_id, detail
