-- step:    staging_hyperstage
-- mode:    append cegdb.hyperstage
-- purpose: The hyperstages, with their labels in level order.
-- reads:   situation_group, floret, situation_edge, given_label, labels
-- writes:  hyperstage(staging_id, hyperstage_id, variable_id, labels, n_situations)
-- params:  staging_id INTEGER, the staging
--          survey_id INTEGER, whose labels are shown
-- source:  docs/theory.md, section 1 (Event trees from data);
--          docs/architecture.md, section Tables
with grouped as (
    select
        g.hyperstage_id,
        if(min(f.variable_id) = max(f.variable_id), min(f.variable_id), null) as variable_id,
        count(*) as n_situations
    from temp.situation_group as g
    inner join temp.floret as f on g.vertex_id = f.vertex_id
    group by g.hyperstage_id
),

labelled as (
    select
        e.vertex_id as hyperstage_id,
        list_sort(
            list(struct_pack(child_id := e.child_id, label := coalesce(r.label, c.label)))
        ) as edges
    from temp.situation_edge as e
    left join temp.given_label as r on e.child_id = r.child_id
    left join cegdb.labels as c on c.survey_id = $survey_id and e.label_id = c.label_id
    where e.vertex_id in (select g.hyperstage_id from grouped as g)
    group by e.vertex_id
)

select
    $staging_id as staging_id,
    g.hyperstage_id,
    g.variable_id,
    [edge.label for edge in l.edges] as labels,
    g.n_situations
from grouped as g
inner join labelled as l on g.hyperstage_id = l.hyperstage_id
order by g.hyperstage_id
