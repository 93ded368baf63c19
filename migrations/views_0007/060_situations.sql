-- One row a situation; path = the answers that lead to it, in words ('' for the root).
-- Paths are walked anew for each tree asked for: step has the edges of those trees only, and
-- is materialized, since DuckDB pushes no condition into a recursion.
create view cegdb.situations as
select
    t.name as tree,
    's' || (
        row_number() over (partition by t.tree_id, t.name order by v.vertex_id) - 1
    ) as situation,
    q.name as variable,
    coalesce(array_to_string(w.labels, ' -> '), '') as path,
    w.labels,
    v.depth,
    v.height,
    v.n,
    v.weight,
    v.n_stopped,
    v.vertex_id
from cegdb.event_tree as t
cross join
    lateral (
        with recursive step as materialized (
            select
                e.tree_id,
                e.parent_id,
                e.child_id,
                l.label
            from (select distinct t.tree_id) as x
            inner join cegdb.edge as e on x.tree_id = e.tree_id
            inner join cegdb.vertex as c
                on x.tree_id = c.tree_id and e.child_id = c.vertex_id
            inner join cegdb.level as l on e.level_id = l.level_id
            where c.variable_id is not null
        ),

        walk as (
            select
                t.tree_id,
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
            labels
        from walk
    ) as w
inner join cegdb.vertex as v on t.tree_id = v.tree_id and w.vertex_id = v.vertex_id
inner join cegdb.variable as q on v.variable_id = q.variable_id;
