-- step:    relabel_edge
-- mode:    create
-- purpose: The edges that each relabelling rule changes: those with its label, everywhere, in
--          its variable, or in the situations at the end of its path.
-- reads:   relabel_rule, relabel_vertex, edge, level, variable
-- writes:  relabel_edge(rule_id, vertex_id, child_id, level_id, label)
-- params:  tree_id INTEGER, the tree
--          survey_id INTEGER, its survey
-- source:  docs/theory.md, section 5 (Equivalent labels)
with rule_level as (
    select
        g.rule_id,
        g.is_path,
        len(g.path) as depth,
        g.label,
        l.level_id
    from temp.relabel_rule as g
    inner join cegdb.level as l on g.raw_label = l.label
    inner join cegdb.variable as v
        on v.survey_id = $survey_id and l.variable_id = v.variable_id
    where g.variable is null or g.variable = v.name
)

select
    r.rule_id,
    e.parent_id as vertex_id,
    e.child_id,
    e.level_id,
    r.label
from rule_level as r
inner join cegdb.edge as e on e.tree_id = $tree_id and r.level_id = e.level_id
left join temp.relabel_vertex as p
    on r.rule_id = p.rule_id and r.depth = p.depth and e.parent_id = p.vertex_id
where not r.is_path or p.vertex_id is not null
