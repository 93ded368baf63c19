-- Each path leads to one leaf of the tree. Where no row took an edge, the interval rests on the
-- rows that could have; below a vertex where nobody answered, any probability is possible.
create macro cegdb.path_limits(tree, paths, level) as table
with recursive cegdb_follow as (
    select
        p.path_id,
        p.labels,
        p.probability,
        0 as n_edges,
        t.vertex_id,
        cast(1 as double) as chance,
        cast(0 as double) as rate,
        t.effect,
        false as is_open
    from query_table(paths) as p
    inner join query_table(tree) as t on t.parent_id is null
    union all
    select
        w.path_id,
        w.labels,
        w.probability,
        w.n_edges + 1 as n_edges,
        t.vertex_id,
        w.chance * coalesce(t.share, 1) * t.factor as chance,
        if(
            t.total > 0,
            w.chance * t.factor * greatest(w.effect, t.effect) / t.total,
            w.rate * t.factor
        ) as rate,
        greatest(w.effect, t.effect) as effect,
        w.is_open or t.total = 0 and w.chance > 0 as is_open
    from cegdb_follow as w
    inner join query_table(tree) as t
        on w.vertex_id = t.parent_id and w.labels[w.n_edges + 1] = t.label
),

cegdb_ended as (
    select
        w.path_id,
        a.n,
        cegdb.share_limits(
            w.probability,
            if(w.is_open, 0, w.chance),
            greatest(a.chance - w.chance, 0),
            if(w.is_open, 0, w.chance * w.rate),
            greatest(a.chance - w.chance, 0) * greatest(w.rate, a.rate),
            greatest(w.rate, a.rate),
            a.open + if(w.is_open, w.chance, 0),
            level
        ) as limits
    from cegdb_follow as w
    cross join cegdb.agreeing(tree) as a
    where w.n_edges = len(w.labels)
)

select
    path_id,
    limits.low as low,
    limits.high as high,
    n
from cegdb_ended;

comment on macro table cegdb.path_limits is 'The interval of the probability of each path; the macros that list paths read it. tree is the name of what cegdb.counted_edges gave, paths the name of a table with the columns path_id, labels and probability. Columns: path_id, low, high, n.';
