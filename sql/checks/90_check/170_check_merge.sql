-- step:    check_merge
-- mode:    fetch
-- purpose: Merges that lower the score (unless tests or a structure prior decide how many are
--          made), are not numbered 1, 2, ..., do not keep the smaller of two different stages,
--          absorb a stage twice, keep a stage that was absorbed before, or join situations
--          whose stages differ in the staging.
-- reads:   staging, stage_member, ahc_merge
-- writes:  check_merge(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering)
with numbered as (
    select
        staging_id,
        count(*) as n_merges,
        count(distinct step) as n_steps,
        min(step) as first_step,
        max(step) as last_step
    from cegdb.ahc_merge
    group by staging_id
),

absorbed as (
    select
        staging_id,
        absorbed_id,
        min(step) as step,
        count(*) as n_merges
    from cegdb.ahc_merge
    group by staging_id, absorbed_id
)

select
    'a merge raises the score' as invariant,
    'staging' as kind,
    g.name,
    m.kept_id as row_id,
    concat('step ', m.step, ' has the log Bayes factor ', m.log_bayes_factor) as detail
from cegdb.ahc_merge as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
where
    not (
        m.log_bayes_factor < 'infinity'
        and case
            when coalesce(g.settings ->> '$.structure_prior', 'flat') <> 'flat' then true
            when (g.settings ->> '$.criterion') = 'test' then true
            when g.method = 'bhc' then m.log_bayes_factor > -1e-9
            else m.log_bayes_factor > 0
        end
    )
union all
select
    'merges are numbered from 1 without gaps' as invariant,
    'staging' as kind,
    g.name,
    cast(null as bigint) as row_id,
    concat(n.n_merges, ' merges have steps ', n.first_step, ' to ', n.last_step) as detail
from numbered as n
inner join cegdb.staging as g on n.staging_id = g.staging_id
where n.first_step <> 1 or n.last_step <> n.n_merges or n.n_steps <> n.n_merges
union all
select
    'a merge keeps the smaller stage and absorbs the other for good' as invariant,
    'staging' as kind,
    g.name,
    m.kept_id as row_id,
    concat(
        'step ', m.step, ' keeps ', m.kept_id, ' and absorbs ', m.absorbed_id,
        if(k.step < m.step, ', after ' || m.kept_id || ' was absorbed itself', ''),
        if(a.n_merges > 1, ', which is absorbed more than once', '')
    ) as detail
from cegdb.ahc_merge as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
inner join absorbed as a on m.staging_id = a.staging_id and m.absorbed_id = a.absorbed_id
left join absorbed as k on m.staging_id = k.staging_id and m.kept_id = k.absorbed_id
where m.kept_id >= m.absorbed_id or a.n_merges > 1 or k.step < m.step
union all
select
    'merged situations are in one stage' as invariant,
    'staging' as kind,
    g.name,
    m.kept_id as row_id,
    concat(
        'step ', m.step, ' merges situations ', m.kept_id, ' and ', m.absorbed_id,
        ', whose stages are ', coalesce(cast(k.stage_id as varchar), 'none'), ' and ',
        coalesce(cast(a.stage_id as varchar), 'none')
    ) as detail
from cegdb.ahc_merge as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
left join cegdb.stage_member as k
    on m.staging_id = k.staging_id and m.kept_id = k.vertex_id
left join cegdb.stage_member as a
    on m.staging_id = a.staging_id and m.absorbed_id = a.vertex_id
where k.stage_id is distinct from a.stage_id or k.stage_id is null
order by invariant, name, row_id, detail
