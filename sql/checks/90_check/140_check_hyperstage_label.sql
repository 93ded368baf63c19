-- step:    check_hyperstage_label
-- mode:    fetch
-- purpose: Hyperstages whose situations do not all have exactly its labels. A floret has each
--          label once, so they do if each label has as many edges as there are situations.
-- reads:   staging, event_tree, edge, level, relabelled_edge, labels, hyperstage, stage,
--          stage_member
-- writes:  check_hyperstage_label(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 1 (Event trees from data)
with found as (
    select
        s.staging_id,
        s.hyperstage_id,
        c.label,
        count(*) as n_edges
    from cegdb.stage as s
    inner join cegdb.staging as g on s.staging_id = g.staging_id
    inner join cegdb.stage_member as m
        on s.staging_id = m.staging_id and s.stage_id = m.stage_id
    inner join cegdb.edge as e on g.tree_id = e.tree_id and m.vertex_id = e.parent_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on g.staging_id = r.staging_id and e.child_id = r.child_id
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    inner join cegdb.labels as c
        on t.survey_id = c.survey_id and coalesce(r.label_id, l.label_id) = c.label_id
    group by s.staging_id, s.hyperstage_id, c.label
),

expected as (
    select
        staging_id,
        hyperstage_id,
        n_situations,
        unnest(labels) as label
    from cegdb.hyperstage
)

select
    'the situations of a hyperstage have its labels' as invariant,
    'staging' as kind,
    g.name,
    coalesce(x.hyperstage_id, f.hyperstage_id) as row_id,
    concat(
        coalesce(x.n_situations, 0), ' edges ', coalesce(x.label, f.label),
        ' expected in hyperstage ', coalesce(x.hyperstage_id, f.hyperstage_id), ', found ',
        coalesce(f.n_edges, 0)
    ) as detail
from expected as x
full join found as f
    on
        x.staging_id = f.staging_id
        and x.hyperstage_id = f.hyperstage_id
        and x.label = f.label
inner join cegdb.staging as g on coalesce(x.staging_id, f.staging_id) = g.staging_id
where x.n_situations is distinct from f.n_edges
order by invariant, name, row_id, detail
