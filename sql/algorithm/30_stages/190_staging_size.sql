-- step:    staging_size
-- mode:    fetch
-- purpose: The counts shown in the summary of a staging: stages and situations by kind, where
--          stages of situations that the user did not name are a kind of their own.
-- reads:   stage, given_group
-- writes:  staging_size(shown_kind, n_stages, n_situations)
-- params:  staging_id INTEGER, the staging
-- source:  serves the summary of a staging
with named as (
    select distinct vertex_id
    from temp.given_group
    where role in ('stage', 'frozen')
)

select
    if(s.kind = 'given' and n.vertex_id is null, 'not_named', s.kind) as shown_kind,
    count(*) as n_stages,
    cast(sum(s.n_situations) as bigint) as n_situations
from cegdb.stage as s
left join named as n on s.stage_id = n.vertex_id
where s.staging_id = $staging_id
group by shown_kind
order by shown_kind
