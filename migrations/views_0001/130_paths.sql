-- The root-to-sink paths of one CEG in words, with the probability of each:
-- select * from cegdb.paths('falls') order by probability desc.
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
