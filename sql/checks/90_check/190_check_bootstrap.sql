-- step:    check_bootstrap
-- mode:    fetch
-- purpose: Pairs of situations that do not fit their bootstrap, or whose is_together differs
--          from the staging; and bootstrap intervals that are not valid.
-- reads:   staging, stage, stage_member, stage_bootstrap, situation_pair, bootstrap_interval
-- writes:  check_bootstrap(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  Efron & Tibshirani (1993), An introduction to the bootstrap, chapter 13;
--          Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering
select
    'pairs are counted over the runs of a bootstrap' as invariant,
    'staging' as kind,
    g.name,
    p.vertex_id as row_id,
    concat(
        'situations ', p.vertex_id, ' and ', p.other_id, ': together in ', p.n_together,
        ' of ', p.n_runs, ' runs, of ', coalesce(b.n_runs, 0)
    ) as detail
from cegdb.situation_pair as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
left join cegdb.stage_bootstrap as b on p.staging_id = b.staging_id and p.kind = b.kind
where
    not (p.n_together <= p.n_runs and p.n_runs <= coalesce(b.n_runs, 0))
    or p.vertex_id >= p.other_id
union all
select
    'pairs belong to one hyperstage, and agree with the staging' as invariant,
    'staging' as kind,
    g.name,
    p.vertex_id as row_id,
    concat(
        'situations ', p.vertex_id, ' and ', p.other_id, ' of stages ',
        coalesce(cast(s.stage_id as varchar), 'none'), ' and ',
        coalesce(cast(u.stage_id as varchar), 'none'), ' are told ',
        if(p.is_together, 'together', 'apart')
    ) as detail
from cegdb.situation_pair as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
left join cegdb.stage_member as m
    on p.staging_id = m.staging_id and p.vertex_id = m.vertex_id
left join cegdb.stage_member as o
    on p.staging_id = o.staging_id and p.other_id = o.vertex_id
left join cegdb.stage as s on p.staging_id = s.staging_id and m.stage_id = s.stage_id
left join cegdb.stage as u on p.staging_id = u.staging_id and o.stage_id = u.stage_id
where
    s.hyperstage_id is null
    or s.hyperstage_id is distinct from u.hyperstage_id
    or p.is_together <> (s.stage_id = u.stage_id)
union all
select
    'a bootstrap has all its pairs' as invariant,
    'staging' as kind,
    g.name,
    cast(null as bigint) as row_id,
    concat(b.kind, ': ', count(p.vertex_id), ' pairs, not ', b.n_pairs) as detail
from cegdb.stage_bootstrap as b
inner join cegdb.staging as g on b.staging_id = g.staging_id
left join cegdb.situation_pair as p on b.staging_id = p.staging_id and b.kind = p.kind
group by g.name, b.kind, b.n_pairs
having count(p.vertex_id) <> b.n_pairs
union all
select
    'an interval goes from low to high within 0 and 1' as invariant,
    'staging' as kind,
    g.name,
    i.vertex_id as row_id,
    concat('situation ', i.vertex_id, ': ', i.low, ' to ', i.high) as detail
from cegdb.bootstrap_interval as i
inner join cegdb.staging as g on i.staging_id = g.staging_id
where not (i.low >= 0 and i.low <= i.high and i.high <= 1)
order by invariant, name, row_id, detail
