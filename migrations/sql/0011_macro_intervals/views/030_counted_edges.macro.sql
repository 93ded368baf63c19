-- The tree below a CEG as its rows count. A vertex is decided if the evidence of the CEG changes
-- nothing below it, and certain if it excludes nothing there.
create macro cegdb.counted_edges(ceg_name) as table
with recursive owner as (
    select
        x.one.ceg_id as ceg_id,
        x.one.staging_id as staging_id,
        x.one.tree_id as tree_id,
        x.one.survey_id as survey_id,
        x.one.ceg_id <> x.one.root_id as is_conditioned
    from (
        select unnest(list(y)) as one
        from (
            select
                a.ceg_id,
                a.staging_id,
                a.tree_id,
                a.survey_id,
                first(a.ancestor_id order by a.generation desc) as root_id
            from cegdb.ceg_ancestors as a
            where a.ceg = ceg_name
            group by a.ceg_id, a.staging_id, a.tree_id, a.survey_id
        ) as y
    ) as x
),

-- How rows count: respondents per unit of weight; null if each situation has its own.
counting as (
    select
        o.*,
        g.settings -> '$.deff' as effects,
        r.n as n_rows,
        r.weight is null or coalesce(g.settings ->> '$.weighting', '') = 'none' as is_by_rows,
        case g.settings ->> '$.weighting'
            when 'total' then r.n / cast(r.weight as double)
            when 'global' then cast(r.weight as double) / cast(w.weight_sq as double)
        end as factor
    from owner as o
    inner join cegdb.staging as g on o.staging_id = g.staging_id
    inner join cegdb.vertex as r on o.tree_id = r.tree_id and r.vertex_id = 0
    left join cegdb.vertex_weight as w on o.tree_id = w.tree_id and w.vertex_id = 0
),

shown as materialized (
    select
        m.vertex_id,
        m.position_id
    from owner as o
    inner join cegdb.position_member as m on o.ceg_id = m.ceg_id
),

taken as (
    select
        e.parent_id,
        e.child_id,
        p.position_id as source_id,
        t.position_id as target_id,
        q.name as variable,
        coalesce(r.label_id, l.label_id) as label_id,
        e.n,
        case
            when c.is_by_rows then cast(e.n as double)
            when c.factor is not null then cast(e.weight as double) * c.factor
            else coalesce(
                cast(e.weight as double)
                * cast(sum(e.weight) over (partition by e.parent_id) as double)
                / nullif(cast(sum(w.weight_sq) over (partition by e.parent_id) as double), 0),
                0
            )
        end as size,
        coalesce(
            cast(
                c.effects ->> ('/' || replace(replace(q.name, '~', '~0'), '/', '~1')) as double
            ),
            1
        ) as effect
    from counting as c
    inner join cegdb.edge as e on c.tree_id = e.tree_id
    inner join shown as p on e.parent_id = p.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join cegdb.variable as q on l.variable_id = q.variable_id
    left join shown as t on e.child_id = t.vertex_id
    left join cegdb.relabelled_edge as r
        on c.staging_id = r.staging_id and e.child_id = r.child_id
    left join cegdb.vertex_weight as w on c.tree_id = w.tree_id and e.child_id = w.vertex_id
),

-- The probability of each edge in a CEG given evidence, relative to that of the stage.
changed as (
    select
        m.vertex_id,
        e.label_id,
        e.probability / p.probability as factor
    from (select ceg_id, staging_id from owner where is_conditioned) as o
    inner join cegdb.stage_member as m on o.staging_id = m.staging_id
    inner join shown as s on m.vertex_id = s.vertex_id
    inner join cegdb.ceg_edge as e on o.ceg_id = e.ceg_id and s.position_id = e.source_id
    inner join cegdb.stage_edge as p
        on
            o.staging_id = p.staging_id
            and m.stage_id = p.stage_id
            and e.label_id = p.label_id
            and p.probability > 0
),

edge as materialized (
    select
        t.*,
        b.label,
        sum(t.size) over (partition by t.parent_id) as total,
        if(c.is_conditioned, coalesce(f.factor, 0), 1) as factor
    from counting as c
    cross join taken as t
    inner join cegdb.labels as b on c.survey_id = b.survey_id and t.label_id = b.label_id
    left join changed as f on t.parent_id = f.vertex_id and t.label_id = f.label_id
),

-- Vertices above an edge that the evidence excludes, or makes more or less probable.
above as (
    select
        parent_id as vertex_id,
        target_id is null as is_excluded
    from edge
    where target_id is null or abs(factor - 1) > 1e-9
    union
    select
        e.parent_id as vertex_id,
        a.is_excluded
    from above as a
    inner join edge as e on a.vertex_id = e.child_id
),

undecided as (
    select
        vertex_id,
        bool_or(is_excluded) as is_uncertain
    from above
    group by vertex_id
),

answered as (
    select
        parent_id as vertex_id,
        any_value(total) as total
    from edge
    group by parent_id
),

arrived as (
    select
        e.parent_id,
        e.child_id as vertex_id,
        e.target_id as position_id,
        e.variable,
        e.label,
        e.n,
        e.size / nullif(e.total, 0) as share,
        e.total,
        e.effect,
        e.factor
    from edge as e
    where e.target_id is not null
    union all
    select
        null as parent_id,
        0 as vertex_id,
        s.position_id,
        null as variable,
        null as label,
        c.n_rows as n,
        1 as share,
        null as total,
        1 as effect,
        1 as factor
    from counting as c
    inner join shown as s on s.vertex_id = 0
)

select
    v.parent_id,
    v.vertex_id,
    v.position_id,
    v.variable,
    v.label,
    v.n,
    v.share,
    v.total,
    v.effect,
    v.factor,
    a.vertex_id is null as is_leaf,
    coalesce(a.total, 0) > 0 as is_answered,
    u.vertex_id is null as is_decided,
    not coalesce(u.is_uncertain, false) as is_certain
from arrived as v
left join answered as a on v.vertex_id = a.vertex_id
left join undecided as u on v.vertex_id = u.vertex_id;

comment on macro table cegdb.counted_edges is 'The vertices of the tree below one CEG, each with the edge to it and how its rows count there; the macros that give intervals read it: select * from cegdb.counted_edges(''falls''). Columns: parent_id, vertex_id, position_id, variable, label, n, share (of the rows that answered at the parent), total (what these count, effectively), effect (design effect of the variable), factor (of the evidence of the CEG), is_leaf, is_answered, is_decided (no factor below), is_certain (nothing excluded below).';
