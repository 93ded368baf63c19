-- DuckDB pushes no condition into a recursion. The views therefore call this macro for each tree
-- that is requested: step is materialized with the edges of these trees only, and tree_id stays a
-- column of the recursion, without which the views take three times as long.
create macro cegdb.situation_paths(tree) as table
with recursive step as materialized (
    select
        e.tree_id,
        e.parent_id,
        e.child_id,
        l.label
    from (select distinct tree as tree_id) as x
    inner join cegdb.edge as e on x.tree_id = e.tree_id
    inner join cegdb.vertex as c on x.tree_id = c.tree_id and e.child_id = c.vertex_id
    inner join cegdb.level as l on e.level_id = l.level_id
    where c.variable_id is not null
),

walk as (
    select
        tree as tree_id,
        cast(0 as bigint) as vertex_id,
        cast([] as varchar[]) as labels
    union all
    select
        s.tree_id,
        s.child_id as vertex_id,
        list_append(w.labels, s.label) as labels
    from walk as w
    inner join step as s on w.tree_id = s.tree_id and w.vertex_id = s.parent_id
)

select
    vertex_id,
    labels,
    coalesce(array_to_string(labels, ' -> '), '') as path
from walk;

comment on macro table cegdb.situation_paths is 'The answers that lead to each situation of an event tree: select * from cegdb.situation_paths(1), where 1 is a tree_id. Columns: vertex_id, labels (a list, from the root) and path (the labels joined by '' -> ''; empty for the root).';
