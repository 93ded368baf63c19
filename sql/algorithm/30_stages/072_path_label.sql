-- step:    path_label
-- mode:    fetch
-- purpose: The labels that lead to one vertex, those of its floret, and its variable, for
--          messages.
-- reads:   edge, level, vertex, variable
-- writes:  path_label(part, edge_index, label)
-- params:  tree_id INTEGER, the tree
--          vertex_id BIGINT, the vertex
-- source:  serves error messages about trees and stagings
with recursive up as (
    select
        e.parent_id,
        e.level_id,
        0 as edge_index
    from cegdb.edge as e
    where e.tree_id = $tree_id and e.child_id = $vertex_id
    union all
    select
        e.parent_id,
        e.level_id,
        u.edge_index - 1 as edge_index
    from up as u
    inner join cegdb.edge as e on e.tree_id = $tree_id and u.parent_id = e.child_id
)

select
    'path' as part,
    u.edge_index,
    l.label
from up as u
inner join cegdb.level as l on u.level_id = l.level_id
union all
select
    'floret' as part,
    e.child_id as edge_index,
    l.label
from cegdb.edge as e
inner join cegdb.level as l on e.level_id = l.level_id
where e.tree_id = $tree_id and e.parent_id = $vertex_id
union all
select
    'variable' as part,
    0 as edge_index,
    v.name as label
from cegdb.vertex as s
inner join cegdb.variable as v on s.variable_id = v.variable_id
where s.tree_id = $tree_id and s.vertex_id = $vertex_id
order by 1, 2
