-- step:    ruled_vertex
-- mode:    create
-- purpose: The vertices on the paths that relabelling rules name, '*' fitting any label; at
--          the end of a path are the situations that the rule is about.
-- reads:   given_rule, edge, level
-- writes:  ruled_vertex(rule_id, depth, vertex_id)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 5 (Equivalent labels)
with recursive walk as (
    select
        g.rule_id,
        0 as depth,
        cast(0 as bigint) as vertex_id
    from temp.given_rule as g
    where g.is_path
    union all
    select
        w.rule_id,
        w.depth + 1 as depth,
        e.child_id as vertex_id
    from walk as w
    inner join temp.given_rule as g on w.rule_id = g.rule_id
    inner join cegdb.edge as e on e.tree_id = $tree_id and w.vertex_id = e.parent_id
    inner join cegdb.level as l on e.level_id = l.level_id
    where w.depth < len(g.path) and g.path[w.depth + 1] in ('*', l.label)
)

select
    rule_id,
    depth,
    vertex_id
from walk
