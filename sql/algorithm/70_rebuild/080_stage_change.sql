-- step:    stage_change
-- mode:    append cegdb.stage_drift
-- purpose: Each stage of a rebuilt staging with each of its former stages: how many situations
--          they share, how many respondents reached these before and reach them now, the label
--          whose probability changed most, and whether the 95 % intervals of any label before
--          and now do not overlap. New situations have no former stage; situations that are
--          gone have no present one.
-- reads:   former_member, former_stage, former_probability, same_vertex, remaining_situation,
--          staging, event_tree, stage, hyperstage, stage_member, stage_edge, vertex, variable,
--          labels
-- writes:  stage_drift(staging_id, former_stage, stage_id, variable, n_situations, n_before,
--          n_after, label, probability_before, low_before, high_before, probability_after,
--          low_after, high_after, is_disjoint)
-- params:  staging_id INTEGER, the staging
-- source:  serves the drift of stages after new rows (cegdb rebuild)
with before as (
    select
        m.vertex_id as former_id,
        k.vertex_id,
        m.stage_id as former_stage_id,
        m.n
    from temp.former_member as m
    left join temp.same_vertex as s on m.vertex_id = s.former_id
    left join temp.remaining_situation as k on s.vertex_id = k.vertex_id
),

after as (
    select
        m.vertex_id,
        m.stage_id,
        v.n
    from cegdb.stage_member as m
    inner join cegdb.staging as g on m.staging_id = g.staging_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    where m.staging_id = $staging_id
),

pair as (
    select
        b.former_stage_id,
        a.stage_id,
        count(*) as n_situations,
        coalesce(sum(b.n), 0) as n_before,
        coalesce(sum(a.n), 0) as n_after
    from before as b
    full join after as a on b.vertex_id = a.vertex_id
    group by b.former_stage_id, a.stage_id
),

now as (
    select
        e.stage_id,
        l.label,
        e.probability,
        e.low,
        e.high
    from cegdb.stage_edge as e
    inner join cegdb.staging as g on e.staging_id = g.staging_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    inner join cegdb.labels as l on t.survey_id = l.survey_id and e.label_id = l.label_id
    where e.staging_id = $staging_id
),

asked as (
    select
        p.former_stage_id,
        p.stage_id,
        f.label
    from pair as p
    inner join temp.former_probability as f on p.former_stage_id = f.stage_id
    where p.stage_id is not null
    union
    select
        p.former_stage_id,
        p.stage_id,
        n.label
    from pair as p
    inner join now as n on p.stage_id = n.stage_id
    where p.former_stage_id is not null
),

compared as (
    select
        a.former_stage_id,
        a.stage_id,
        a.label,
        coalesce(f.probability, 0) as probability_before,
        f.low as low_before,
        f.high as high_before,
        coalesce(n.probability, 0) as probability_after,
        n.low as low_after,
        n.high as high_after
    from asked as a
    left join temp.former_probability as f
        on a.former_stage_id = f.stage_id and a.label = f.label
    left join now as n on a.stage_id = n.stage_id and a.label = n.label
),

apart as (
    select
        former_stage_id,
        stage_id,
        bool_or(low_after > high_before or high_after < low_before) as is_disjoint
    from compared
    group by former_stage_id, stage_id
),

most as (
    select *
    from compared
    qualify
        row_number() over (
            partition by former_stage_id, stage_id
            order by round(abs(probability_after - probability_before), 12) desc, label
        ) = 1
),

named as (
    select
        s.stage_id,
        q.name as variable
    from cegdb.stage as s
    inner join cegdb.hyperstage as h
        on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
    left join cegdb.variable as q on h.variable_id = q.variable_id
    where s.staging_id = $staging_id
)

select
    $staging_id as staging_id,
    o.former_stage,
    p.stage_id,
    coalesce(w.variable, o.variable) as variable,
    p.n_situations,
    cast(p.n_before as bigint) as n_before,
    cast(p.n_after as bigint) as n_after,
    m.label,
    m.probability_before,
    m.low_before,
    m.high_before,
    m.probability_after,
    m.low_after,
    m.high_after,
    a.is_disjoint
from pair as p
left join temp.former_stage as o on p.former_stage_id = o.stage_id
left join named as w on p.stage_id = w.stage_id
left join most as m on p.former_stage_id = m.former_stage_id and p.stage_id = m.stage_id
left join apart as a on p.former_stage_id = a.former_stage_id and p.stage_id = a.stage_id
order by p.stage_id nulls last, p.former_stage_id
