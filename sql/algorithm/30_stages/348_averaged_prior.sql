-- step:    averaged_prior
-- mode:    create
-- purpose: Priors with which the posterior mean of each situation is what it is averaged over
--          all stagings: of the least mass that leaves each label at least its averaged
--          probability. Other situations keep an equal part of the prior of their stage.
-- reads:   averaged_probability, changed_member, situation_edge, edge_size, stage_member,
--          stage_edge
-- writes:  averaged_prior(vertex_id, label, prior)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 15 (Averaging over stagings)
with answer as (
    select
        m.name,
        e.vertex_id,
        e.label_id,
        e.label,
        cast(coalesce(z.size, e.n) as double) as size,
        p.probability
    from temp.changed_member as m
    inner join temp.situation_edge as e on m.vertex_id = e.vertex_id
    inner join temp.averaged_probability as p
        on e.vertex_id = p.vertex_id and e.label_id = p.label_id
    left join temp.edge_size as z on e.child_id = z.child_id
),

stage_answer as (
    select
        name,
        label_id,
        sum(size) as size,
        min(probability) as probability,
        count(*) as n_members
    from answer
    group by name, label_id
),

total as (
    select
        name,
        greatest(max(size / probability), sum(size)) + 1 as mass
    from stage_answer
    group by name
),

member_count as (
    select
        stage_id,
        count(*) as n_members
    from cegdb.stage_member
    where staging_id = $staging_id
    group by stage_id
)

select
    a.vertex_id,
    a.label,
    (s.probability * t.mass - s.size) / s.n_members as prior
from answer as a
inner join stage_answer as s on a.name = s.name and a.label_id = s.label_id
inner join total as t on a.name = t.name
union all
select
    e.vertex_id,
    e.label,
    x.prior / c.n_members as prior
from cegdb.stage_member as m
inner join member_count as c on m.stage_id = c.stage_id
inner join temp.situation_edge as e on m.vertex_id = e.vertex_id
inner join cegdb.stage_edge as x
    on
        m.staging_id = x.staging_id
        and m.stage_id = x.stage_id
        and e.label_id = x.label_id
where
    m.staging_id = $staging_id
    and m.vertex_id not in (select h.vertex_id from temp.changed_member as h)
