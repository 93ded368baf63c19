-- Reads ceg_answers, which refuses an unknown CEG.
create or replace macro cegdb.paths(ceg_name, level := 0.95) as table
with recursive edge as materialized (
    select
        source_id,
        target_id,
        label,
        probability
    from cegdb.ceg_answers(ceg_name)
    where is_own
),

ends as (
    select
        max_by(p.position_id, p.height) as root_id,
        min_by(p.position_id, p.height) as sink_id
    from cegdb.ceg as this_ceg
    inner join cegdb.position as p on this_ceg.ceg_id = p.ceg_id
    where this_ceg.name = ceg_name
),

walk as (
    select
        root_id as position_id,
        cast([] as varchar[]) as labels,
        cast(1 as double) as probability
    from ends
    union all
    select
        e.target_id as position_id,
        list_append(w.labels, e.label) as labels,
        w.probability * e.probability as probability
    from walk as w
    inner join edge as e on w.position_id = e.source_id
),

paths_tree as materialized (
    select *
    from cegdb.counted_edges(ceg_name)
    where level is not null
),

paths_found as materialized (
    select
        row_number() over () as path_id,
        w.labels,
        w.probability
    from walk as w
    inner join ends as e on w.position_id = e.sink_id
)

select
    array_to_string(p.labels, ' -> ') as path,
    p.labels,
    len(p.labels) as n_edges,
    p.probability,
    i.low,
    i.high,
    i.n
from paths_found as p
left join cegdb.path_limits('paths_tree', 'paths_found', level) as i on p.path_id = i.path_id;

comment on macro table cegdb.paths is 'The paths from the root to the sink of one CEG, each with its probability: select * from cegdb.paths(''falls''). Columns: path, labels, n_edges, probability, low, high, n. low and high are the ends of the 95 % interval by the rows alone, whatever the stages are, and n is the number of respondents that it rests on; level := 0.9 gives 90 %, level := null no interval.';
