-- step:    relabel_vertex
-- mode:    create
-- purpose: The vertices along the paths of relabelling rules, where '*' matches any label.
--          Those at the end of a path are the situations whose labels change.
-- reads:   relabel_rule, edge, level
-- writes:  relabel_vertex(rule_id, depth, vertex_id)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 5 (Equivalent labels)
with recursive along as (
    select
        g.rule_id,
        0 as depth,
        cast(0 as bigint) as vertex_id
    from temp.relabel_rule as g
    where g.is_path
    union all
    select
        a.rule_id,
        a.depth + 1 as depth,
        e.child_id as vertex_id
    from along as a
    inner join temp.relabel_rule as g on a.rule_id = g.rule_id
    inner join cegdb.edge as e on e.tree_id = $tree_id and a.vertex_id = e.parent_id
    inner join cegdb.level as l on e.level_id = l.level_id
    where a.depth < len(g.path) and g.path[a.depth + 1] in ('*', l.label)
)

select
    rule_id,
    depth,
    vertex_id
from along
