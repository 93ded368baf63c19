-- Each step of the recursion keeps the k most probable paths to each position, so that not all
-- paths are listed. A path is a list of edges; where two paths part, their edges leave the same
-- position and are in level order. Paths whose probabilities differ by less than 1e-12 of
-- themselves count as equal, and are in level order.
create or replace macro cegdb.most_probable_paths(ceg_name, k, level := 0.95) as table
with recursive edge as materialized (
    select
        source_id,
        target_id,
        variable,
        label,
        probability,
        row_number() over (
            order by source_id, level_id, label
        ) as edge_id
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
        cast(1 as double) as probability,
        cast([] as bigint[]) as edge_ids
    from ends
    where if(k >= 1, true, cast(error('k is ' || cast(k as varchar) || ': it must be 1 or more') as boolean))
    union all
    select
        x.position_id,
        x.probability,
        x.edge_ids
    from (
        select
            t.*,
            row_number() over (
                partition by t.position_id
                order by t.tie, t.edge_ids
            ) as place
        from (
            select
                s.*,
                sum(s.is_less) over (
                    partition by s.position_id
                    order by s.probability desc, s.edge_ids
                    rows between unbounded preceding and current row
                ) as tie
            from (
                select
                    n.*,
                    if(
                        n.probability < (1 - 1e-12) * lag(n.probability) over (
                            partition by n.position_id
                            order by n.probability desc, n.edge_ids
                        ),
                        1,
                        0
                    ) as is_less
                from (
                    select
                        e.target_id as position_id,
                        w.probability * e.probability as probability,
                        list_append(w.edge_ids, e.edge_id) as edge_ids
                    from walk as w
                    inner join edge as e on w.position_id = e.source_id
                ) as n
            ) as s
        ) as t
    ) as x
    where x.place <= k
),

ended as (
    select
        w.probability,
        w.edge_ids,
        if(
            w.probability < (1 - 1e-12) * lag(w.probability) over (
                order by w.probability desc, w.edge_ids
            ),
            1,
            0
        ) as is_less
    from walk as w
    inner join ends as e on w.position_id = e.sink_id
),

tied as (
    select
        probability,
        edge_ids,
        sum(is_less) over (
            order by probability desc, edge_ids
            rows between unbounded preceding and current row
        ) as tie
    from ended
),

ranked as (
    select
        probability,
        edge_ids,
        row_number() over (
            order by tie, edge_ids
        ) as place
    from tied
),

taken as (
    select
        p.place,
        p.probability,
        list_sort(
            list(struct_pack(nth := p.nth, label := e.label, variable := e.variable))
        ) as edges
    from (
        select
            place,
            probability,
            unnest(edge_ids) as edge_id,
            generate_subscripts(edge_ids, 1) as nth
        from ranked
        where place <= k
    ) as p
    inner join edge as e on p.edge_id = e.edge_id
    group by p.place, p.probability
),

best_tree as materialized (
    select *
    from cegdb.counted_edges(ceg_name)
    where level is not null
),

best_found as materialized (
    select
        place as path_id,
        [one.label for one in edges] as labels,
        [one.variable for one in edges] as variables,
        probability
    from taken
)

select
    p.path_id as rank,
    array_to_string(p.labels, ' -> ') as path,
    p.labels,
    p.variables,
    p.probability,
    i.low,
    i.high,
    i.n
from best_found as p
left join cegdb.path_limits('best_tree', 'best_found', level) as i on p.path_id = i.path_id;

comment on macro table cegdb.most_probable_paths is 'The k most probable paths of one CEG: select * from cegdb.most_probable_paths(''falls'', 3). Columns: rank, path, labels, variables, probability, low, high, n. low and high are the ends of the 95 % interval by the rows alone, whatever the stages are, and n is the number of respondents that it rests on; level := 0.9 gives 90 %, level := null no interval.';
