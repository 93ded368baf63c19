-- step:     stage_cell
-- mode:     create
-- purpose:  The rows of a staged tree as a flow from stage to stage: into a stage, out of it
--           by its labels (or none), and from each label on to the stages it leads to.
-- reads:    staging, stage, stage_edge, stage_member, vertex, edge, level
-- writes:   stage_cell(cell, kind, owner_id, label_id, tail, head, n)
-- params:   staging_id INTEGER, the stages
-- source:   none
with answer as (
    select
        e.stage_id,
        e.label_id,
        e.n,
        -row_number() over (order by e.stage_id, e.label_id) as node
    from cegdb.stage_edge as e
    where e.staging_id = $staging_id
),

member as (
    select
        m.vertex_id,
        m.stage_id
    from cegdb.stage_member as m
    where m.staging_id = $staging_id
),

passage as (
    select
        s.stage_id,
        l.label_id,
        t.stage_id as target_id,
        sum(e.n) as n
    from cegdb.staging as g
    inner join cegdb.edge as e on g.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join member as s on e.parent_id = s.vertex_id
    left join member as t on e.child_id = t.vertex_id
    where g.staging_id = $staging_id
    group by s.stage_id, l.label_id, t.stage_id
),

flow as (
    select
        'root' as kind,
        r.vertex_id as owner_id,
        null as label_id,
        0 as tail,
        2 * m.stage_id + 1 as head,
        r.n
    from cegdb.staging as g
    inner join cegdb.vertex as r on g.tree_id = r.tree_id and r.depth = 0
    inner join member as m on r.vertex_id = m.vertex_id
    where g.staging_id = $staging_id
    union all
    select
        'stage' as kind,
        s.stage_id as owner_id,
        null as label_id,
        2 * s.stage_id + 1 as tail,
        2 * s.stage_id + 2 as head,
        s.n
    from cegdb.stage as s
    where s.staging_id = $staging_id
    union all
    select
        'answer' as kind,
        a.stage_id as owner_id,
        a.label_id,
        2 * a.stage_id + 2 as tail,
        a.node as head,
        a.n
    from answer as a
    union all
    select
        'stopped' as kind,
        s.stage_id as owner_id,
        null as label_id,
        2 * s.stage_id + 2 as tail,
        0 as head,
        s.n - sum(a.n) as n
    from cegdb.stage as s
    inner join answer as a on s.stage_id = a.stage_id
    where s.staging_id = $staging_id
    group by s.stage_id, s.n
    union all
    select
        'passage' as kind,
        p.stage_id as owner_id,
        p.label_id,
        a.node as tail,
        coalesce(2 * p.target_id + 1, 0) as head,
        p.n
    from passage as p
    inner join answer as a on p.stage_id = a.stage_id and p.label_id = a.label_id
)

select
    row_number() over (order by f.kind, f.owner_id, f.label_id, f.head) as cell,
    f.kind,
    f.owner_id,
    f.label_id,
    f.tail,
    f.head,
    cast(f.n as bigint) as n
from flow as f
