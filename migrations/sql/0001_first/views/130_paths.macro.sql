create macro cegdb.paths(ceg_name) as table
with recursive step as (
    select
        e.source_id,
        e.target_id,
        e.label,
        e.variable,
        e.probability
    from cegdb.ceg_edges as e
    where e.ceg = ceg_name
),

walk as (
    select
        p.position_id,
        p.stage_id is null as at_sink,
        cast([] as varchar[]) as labels,
        cast(1 as double) as probability
    from cegdb.positions as p
    where p.ceg = ceg_name and p.position_id = 0
    union all
    select
        s.target_id as position_id,
        p.stage_id is null as at_sink,
        list_append(w.labels, s.label) as labels,
        w.probability * s.probability as probability
    from walk as w
    inner join step as s on w.position_id = s.source_id
    inner join cegdb.positions as p on p.ceg = ceg_name and s.target_id = p.position_id
)

select
    array_to_string(walk.labels, ' -> ') as path,
    walk.labels,
    len(walk.labels) as n_edges,
    walk.probability
from walk
where walk.at_sink;

comment on macro table cegdb.paths is 'The paths from the root to the sink of one CEG, each with its probability: select * from cegdb.paths(''falls''). Columns: path, labels, n_edges, probability.';
