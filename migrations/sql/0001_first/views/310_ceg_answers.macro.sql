-- variables: those of the situations of the source; level_id: the order of a variable's
-- labels. The edges of ancestors are included, so that an answer which the evidence makes
-- impossible is still known.
create macro cegdb.ceg_answers(ceg_name) as table
with found as (
    select
        coalesce(
            f.ceg_id,
            error(
                'no CEG named ' || coalesce('''' || f.name || '''', 'NULL') || '; '
                || coalesce(
                    'available: ' || cegdb.nearest(coalesce(f.name, ''), k.names),
                    'there are none yet'
                )
            )
        ) as ceg_id
    from (
        select
            ceg_name as name,
            max(this_ceg.ceg_id) as ceg_id
        from cegdb.ceg as this_ceg
        where this_ceg.name = ceg_name
    ) as f
    cross join (select list(n.name) as names from cegdb.ceg as n) as k
),

-- Unnested from a list, so that DuckDB expects few rows here and filters large tables by them.
owner as (
    select
        x.line.ancestor_id as ceg_id,
        x.line.generation = 0 as is_own,
        x.line.staging_id as staging_id,
        x.line.tree_id as tree_id,
        x.line.survey_id as survey_id
    from (
        select unnest(y.lines) as line
        from (
            select list(l) as lines
            from found as f
            inner join cegdb.ceg_ancestors as l on f.ceg_id = l.ceg_id
        ) as y
    ) as x
),

place as (
    select
        o.ceg_id,
        o.tree_id,
        p.position_id,
        h.variable_id
    from owner as o
    inner join cegdb.position as p on o.ceg_id = p.ceg_id
    left join cegdb.stage as s on o.staging_id = s.staging_id and p.stage_id = s.stage_id
    left join cegdb.hyperstage as h
        on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
    where p.height > 0
),

-- If a hyperstage spans several variables, only the tree says which one a position has.
spanning as (
    select x.pair.ceg_id as ceg_id, x.pair.tree_id as tree_id
    from (
        select unnest(y.pairs) as pair
        from (
            select list(distinct struct_pack(ceg_id := ceg_id, tree_id := tree_id)) as pairs
            from place
            where variable_id is null
        ) as y
    ) as x
),

asking as (
    select
        p.ceg_id,
        p.position_id,
        v.variable_id
    from spanning as s
    inner join cegdb.position_member as m on s.ceg_id = m.ceg_id
    inner join cegdb.vertex as v on s.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    inner join place as p on m.ceg_id = p.ceg_id and m.position_id = p.position_id
    where p.variable_id is null
    group by p.ceg_id, p.position_id, v.variable_id
    union all
    select
        p.ceg_id,
        p.position_id,
        p.variable_id
    from place as p
    where p.variable_id is not null
),

asked as (
    select
        a.ceg_id,
        a.position_id,
        list_sort(list(q.name)) as variables,
        if(count(*) = 1, min(a.variable_id), null) as variable_id
    from asking as a
    inner join cegdb.variable as q on a.variable_id = q.variable_id
    group by a.ceg_id, a.position_id
),

spelled as (
    select
        variable_id,
        label_id,
        min(level_id) as level_id
    from cegdb.level
    group by variable_id, label_id
),

-- A label that the staging introduced is sorted like the first of the labels it replaces.
raw as (
    select
        r.ceg_id,
        r.source_id,
        r.label_id,
        min(v.level_id) as level_id
    from (
        select
            e.ceg_id,
            e.source_id,
            e.label_id,
            unnest(e.raw_labels) as label
        from owner as o
        inner join cegdb.ceg_edge as e on o.ceg_id = e.ceg_id
    ) as r
    inner join asked as a on r.ceg_id = a.ceg_id and r.source_id = a.position_id
    inner join cegdb.level as v on a.variable_id = v.variable_id and r.label = v.label
    group by r.ceg_id, r.source_id, r.label_id
)

select
    o.is_own,
    e.source_id,
    e.target_id,
    if(len(a.variables) = 1, a.variables[1], null) as variable,
    a.variables,
    l.label,
    e.raw_labels,
    e.probability,
    coalesce(s.level_id, r.level_id, e.label_id) as level_id,
    a.variable_id
from owner as o
inner join cegdb.ceg_edge as e on o.ceg_id = e.ceg_id
inner join cegdb.labels as l on o.survey_id = l.survey_id and e.label_id = l.label_id
left join asked as a on e.ceg_id = a.ceg_id and e.source_id = a.position_id
left join spelled as s on a.variable_id = s.variable_id and e.label_id = s.label_id
left join raw as r
    on e.ceg_id = r.ceg_id and e.source_id = r.source_id and e.label_id = r.label_id;

comment on macro table cegdb.ceg_answers is 'The edges of one CEG and the answer that each stands for; the other macros read it: select * from cegdb.ceg_answers(''falls''). Edges of the CEGs it was conditioned from follow, with is_own false. Columns: is_own, source_id, target_id, variable (null if the source has several), variables, label, raw_labels, probability, level_id, variable_id.';
