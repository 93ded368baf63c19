-- step:    check_ceg_floret
-- mode:    fetch
-- purpose: Florets of CEGs whose probabilities do not sum to 1 (within 1e-9) or differ from the
--          stage's, that have a label twice, or whose prior masses do not add up to the
--          stage's.
-- reads:   ceg, position, ceg_edge, stage_edge
-- writes:  check_ceg_floret(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 5
with florets as (
    select
        ceg_id,
        source_id,
        sum(probability) as probability
    from cegdb.ceg_edge
    group by ceg_id, source_id
),

repeated as (
    select
        ceg_id,
        source_id,
        label_id,
        count(*) as n_edges
    from cegdb.ceg_edge
    group by ceg_id, source_id, label_id
    having count(*) > 1
),

masses as (
    select
        e.ceg_id,
        p.stage_id,
        e.label_id,
        sum(e.prior) as prior
    from cegdb.ceg_edge as e
    inner join cegdb.position as p on e.ceg_id = p.ceg_id and e.source_id = p.position_id
    group by e.ceg_id, p.stage_id, e.label_id
)

select
    'the probabilities of a position sum to 1' as invariant,
    'ceg' as kind,
    c.name,
    f.source_id as row_id,
    concat('those of position ', f.source_id, ' sum to ', f.probability) as detail
from florets as f
inner join cegdb.ceg as c on f.ceg_id = c.ceg_id
where not abs(f.probability - 1) <= 1e-9
union all
select
    'a CEG edge has the probability of its stage' as invariant,
    'ceg' as kind,
    c.name,
    e.source_id as row_id,
    concat(
        'position ', e.source_id, ', label ', e.label_id, ': ', e.probability, ', in stage ',
        coalesce(cast(p.stage_id as varchar), 'none'), ' ',
        coalesce(cast(s.probability as varchar), 'none')
    ) as detail
from cegdb.ceg_edge as e
inner join cegdb.ceg as c on e.ceg_id = c.ceg_id and c.staging_id is not null
left join cegdb.position as p on e.ceg_id = p.ceg_id and e.source_id = p.position_id
left join cegdb.stage_edge as s
    on
        c.staging_id = s.staging_id
        and p.stage_id = s.stage_id
        and e.label_id = s.label_id
where e.probability is distinct from s.probability
union all
select
    'the labels of a position differ' as invariant,
    'ceg' as kind,
    c.name,
    r.source_id as row_id,
    concat(
        'position ', r.source_id, ' has ', r.n_edges, ' edges of label ', r.label_id
    ) as detail
from repeated as r
inner join cegdb.ceg as c on r.ceg_id = c.ceg_id
union all
select
    'the prior masses of a stage are shared among its positions' as invariant,
    'ceg' as kind,
    c.name,
    m.stage_id as row_id,
    concat(
        'stage ', m.stage_id, ', label ', m.label_id, ' has prior mass ', s.prior,
        ', its positions ', m.prior
    ) as detail
from masses as m
inner join cegdb.ceg as c on m.ceg_id = c.ceg_id
inner join cegdb.stage_edge as s
    on
        c.staging_id = s.staging_id
        and m.stage_id = s.stage_id
        and m.label_id = s.label_id
where not abs(m.prior - s.prior) <= 1e-9 * s.prior
order by invariant, name, row_id, detail
