-- step:    shown_edge
-- mode:    create
-- purpose: The edges of a tree that show another label in its staging, with the level of that
--          label; left out where another edge of the situation has this level.
-- reads:   edge, vertex, level, labels, relabelled_edge, label_level
-- writes:  shown_edge(parent_id, child_id, level_id)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its stages
--          survey_id INTEGER, its survey
-- source:  docs/theory.md, section 5 (Equivalent labels);
--          serves answers for each row of a file (assign, complete, score)
with shown as (
    select
        e.parent_id,
        e.child_id,
        k.level_id
    from cegdb.edge as e
    inner join cegdb.vertex as v on v.tree_id = $tree_id and e.parent_id = v.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
    inner join cegdb.labels as h on h.survey_id = $survey_id and l.label_id = h.label_id
    left join cegdb.relabelled_edge as r
        on r.staging_id = $staging_id and e.child_id = r.child_id
    inner join temp.label_level as k
        on v.variable_id = k.variable_id and coalesce(r.label, h.label) = k.label
    where e.tree_id = $tree_id and e.level_id <> k.level_id
)

select
    s.parent_id,
    s.child_id,
    s.level_id
from shown as s
left join cegdb.edge as other
    on
        other.tree_id = $tree_id
        and s.parent_id = other.parent_id
        and s.level_id = other.level_id
where other.child_id is null
