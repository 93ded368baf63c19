-- step:    outcome_answer
-- mode:    create
-- purpose: The answers to variables of few levels that lead to each situation of the last one.
-- reads:   vertex, edge, level
-- writes:  outcome_answer(situation_id, variable_id, level_id)
-- params:  tree_id INTEGER, the tree
--          outcome_id INTEGER, the last variable
--          most_levels INTEGER, more levels are many
-- source:  docs/theory.md, section 25 (Associations that turn)
with recursive walk as (
    select
        vertex_id as situation_id,
        vertex_id,
        cast(null as integer) as level_id
    from cegdb.vertex
    where tree_id = $tree_id and variable_id = $outcome_id
    union all
    select
        w.situation_id,
        e.parent_id as vertex_id,
        e.level_id
    from walk as w
    inner join cegdb.edge as e on e.tree_id = $tree_id and w.vertex_id = e.child_id
)

select
    w.situation_id,
    l.variable_id,
    l.level_id
from walk as w
inner join cegdb.level as l on w.level_id = l.level_id
where
    l.kind = 'value'
    and l.variable_id in (
        select o.variable_id
        from cegdb.level as o
        where o.kind = 'value'
        group by o.variable_id
        having count(*) <= $most_levels
    )
