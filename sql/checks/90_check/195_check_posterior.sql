-- step:    check_posterior
-- mode:    fetch
-- purpose: Pairs of situations that do not belong to one hyperstage with a posterior, hyperstages
--          that lack some of their pairs, and posteriors that no stages can have.
-- reads:   staging, stage, stage_member, costaging, hyperstage_posterior
-- writes:  check_posterior(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 15 (Averaging over stagings)
with member as (
    select
        m.staging_id,
        m.vertex_id,
        s.hyperstage_id
    from cegdb.stage_member as m
    inner join cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id
),

pair as (
    select
        p.staging_id,
        p.vertex_id,
        p.other_id,
        h.hyperstage_id,
        coalesce(
            p.vertex_id < p.other_id
            and m.hyperstage_id = o.hyperstage_id
            and p.method = h.method,
            false
        ) as fits
    from cegdb.costaging as p
    left join member as m on p.staging_id = m.staging_id and p.vertex_id = m.vertex_id
    left join member as o on p.staging_id = o.staging_id and p.other_id = o.vertex_id
    left join cegdb.hyperstage_posterior as h
        on p.staging_id = h.staging_id and m.hyperstage_id = h.hyperstage_id
)

select
    'pairs belong to one hyperstage with a posterior' as invariant,
    'staging' as kind,
    g.name,
    p.vertex_id as row_id,
    concat('situations ', p.vertex_id, ' and ', p.other_id) as detail
from pair as p
inner join cegdb.staging as g on p.staging_id = g.staging_id
where not p.fits
union all
select
    'a posterior has all its pairs' as invariant,
    'staging' as kind,
    g.name,
    h.hyperstage_id as row_id,
    concat(count(p.vertex_id), ' pairs of ', h.n_situations, ' situations') as detail
from cegdb.hyperstage_posterior as h
inner join cegdb.staging as g on h.staging_id = g.staging_id
left join pair as p
    on h.staging_id = p.staging_id and h.hyperstage_id = p.hyperstage_id and p.fits
group by g.name, h.hyperstage_id, h.n_situations
having count(p.vertex_id) <> h.n_situations * (h.n_situations - 1) // 2
union all
select
    'the best staging known is as good as the one shown, and all hold it' as invariant,
    'staging' as kind,
    g.name,
    h.hyperstage_id as row_id,
    concat('shown ', h.log_shown, ', best ', h.log_best, ', all ', h.log_total) as detail
from cegdb.hyperstage_posterior as h
inner join cegdb.staging as g on h.staging_id = g.staging_id
where
    not (
        h.log_shown <= h.log_best
        and h.log_best <= h.log_total + 1e-6 * greatest(1, abs(h.log_total))
        and isfinite(h.log_total)
        and h.n_stages <= h.n_situations
        and h.n_stages_best <= h.n_situations
        and h.mean_stages >= 1 - 1e-6
        and h.mean_stages <= h.n_situations + 1e-6
        and (h.n_draws is null) = (h.method = 'exact')
    )
order by invariant, name, row_id, detail
