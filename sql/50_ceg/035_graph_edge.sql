-- step:    graph_edge
-- mode:    append cegdb.ceg_edge
-- purpose: The edges of the CEG, with the prior of their situations, the probability of the
--          stage, and the labels that the tree has for the staging's.
-- reads:   position_edge, position_floret, position_share, position_prior, stage_edge, labels,
--          relabelled_edge, edge, level, position_of
-- writes:  ceg_edge(ceg_id, source_id, target_id, label_id, raw_labels, n, weight, prior,
--          probability)
-- params:  ceg_id INTEGER, the CEG
--          survey_id INTEGER, whose labels they are
--          tree_id INTEGER, its tree
--          staging_id INTEGER, its stages
-- source:  Shenvi & Smith (2020), section 3
with relabelled as (
    select
        p.position_id,
        r.label_id,
        list(distinct l.label) as labels,
        count(*) as n_edges
    from cegdb.relabelled_edge as r
    inner join cegdb.edge as e on e.tree_id = $tree_id and r.child_id = e.child_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join temp.position_of as p on e.parent_id = p.vertex_id
    where r.staging_id = $staging_id
    group by p.position_id, r.label_id
)

select
    $ceg_id as ceg_id,
    e.source_id,
    e.target_id,
    e.label_id,
    case
        when r.labels is null then [l.label]
        when r.n_edges = f.n_situations then list_sort(r.labels)
        else list_sort(list_distinct(list_append(r.labels, l.label)))
    end as raw_labels,
    e.n,
    e.weight,
    case when f.is_whole then g.prior else coalesce(a.prior, s.share) end as prior,
    g.probability
from temp.position_edge as e
inner join temp.position_floret as f on e.source_id = f.position_id
inner join cegdb.stage_edge as g
    on g.staging_id = $staging_id and f.stage_id = g.stage_id and e.label_id = g.label_id
left join temp.position_share as s on e.source_id = s.position_id
left join temp.position_prior as a
    on e.source_id = a.position_id and e.label_id = a.label_id
left join cegdb.labels as l on l.survey_id = $survey_id and e.label_id = l.label_id
left join relabelled as r on e.source_id = r.position_id and e.label_id = r.label_id
order by e.source_id, e.label_id, e.target_id
