-- Each step of the recursion moves all people one edge further, so that paths are never listed.
-- Positions are numbered here, as in the view positions, so that the view of all CEGs reads only
-- the rows of each.
create or replace macro cegdb.position_probability(ceg_name, level := 0.95) as table
with recursive edge as materialized (
    select
        source_id,
        target_id,
        variable,
        probability
    from cegdb.ceg_answers(ceg_name)
    where is_own
),

-- Lists, not windows over the tables: so DuckDB reads only the rows of the requested CEGs.
owned as (
    select
        list(
            struct_pack(position_id := p.position_id, stage_id := p.stage_id, height := p.height)
        ) as places,
        max_by(p.position_id, p.height) as root_id,
        min_by(p.position_id, p.height) as sink_id
    from cegdb.ceg as this_ceg
    inner join cegdb.position as p on this_ceg.ceg_id = p.ceg_id
    where this_ceg.name = ceg_name
),

place as (
    select
        o.one.position_id as position_id,
        o.one.stage_id as stage_id,
        if(
            o.one.height = 0,
            'w_inf',
            'w' || (
                row_number() over (
                    order by o.one.height = 0, o.one.position_id
                ) - 1
            )
        ) as position
    from (select unnest(places) as one from owned) as o
),

staged as (
    select
        l.stage_id,
        'u' || (
            row_number() over (
                order by l.stage_id
            ) - 1
        ) as stage
    from (
        select unnest(n.stage_ids) as stage_id
        from (
            select list(s.stage_id) as stage_ids
            from cegdb.ceg as this_ceg
            inner join cegdb.stage as s on this_ceg.staging_id = s.staging_id
            where this_ceg.name = ceg_name
            union all
            select list(s.stage_id) as stage_ids
            from cegdb.ceg as this_ceg
            inner join cegdb.ceg_stage as s on this_ceg.ceg_id = s.ceg_id
            where this_ceg.name = ceg_name
        ) as n
    ) as l
),

walk as (
    select
        root_id as position_id,
        cast(1 as double) as probability
    from owned
    union all
    select
        e.target_id as position_id,
        fsum(w.probability * e.probability) as probability
    from walk as w
    inner join edge as e on w.position_id = e.source_id
    group by e.target_id
),

reached as (
    select
        position_id,
        fsum(probability) as probability
    from walk
    group by position_id
),

asking as (
    select
        source_id,
        max(variable) as variable
    from edge
    group by source_id
),

reached_tree as materialized (
    select *
    from cegdb.counted_edges(ceg_name)
    where level is not null
),

-- Who comes to each vertex of the tree, and who came through each position on the way to where
-- the evidence of the CEG changes nothing any more. Below a vertex where nobody answered all may
-- go any way (is_open).
way as (
    select
        t.vertex_id,
        through.position_id,
        cast(1 as double) as chance,
        cast(0 as double) as rate,
        t.effect,
        false as is_open,
        through.position_id is not null and t.is_decided as is_end
    from reached_tree as t
    cross join lateral (select unnest([null, t.position_id]) as position_id) as through
    where t.parent_id is null
    union all
    select
        s.vertex_id,
        through.position_id,
        s.chance,
        s.rate,
        s.effect,
        s.is_open,
        through.position_id is not null and s.is_decided as is_end
    from (
        select
            t.vertex_id,
            t.position_id as own_id,
            w.position_id,
            w.chance * coalesce(t.share, 1) * t.factor as chance,
            if(
                t.total > 0,
                w.chance * t.factor * greatest(w.effect, t.effect) / t.total,
                w.rate * t.factor
            ) as rate,
            greatest(w.effect, t.effect) as effect,
            w.is_open or t.total = 0 and w.chance > 0 as is_open,
            t.is_decided
        from way as w
        inner join reached_tree as t on w.vertex_id = t.parent_id
        where not w.is_end
    ) as s
    cross join
        lateral (
            select
                unnest(
                    if(s.position_id is null, [null, s.own_id], [s.position_id])
                ) as position_id
        ) as through
),

counted as (
    select
        position_id,
        coalesce(fsum(chance) filter (where not is_open), 0) as chance,
        coalesce(fsum(chance * rate) filter (where not is_open), 0) as spread,
        coalesce(fsum(chance) filter (where is_open), 0) as open,
        max(rate) as rate
    from way
    where is_end
    group by position_id
),

limited as (
    select
        r.position_id,
        a.n,
        r.position_id in (o.root_id, o.sink_id) as is_certain,
        cegdb.share_limits(
            r.probability,
            c.chance,
            greatest(a.chance - c.chance - c.open, 0),
            c.spread,
            greatest(a.chance - c.chance - c.open, 0) * greatest(c.rate, a.rate),
            greatest(c.rate, a.rate),
            a.open + c.open,
            level
        ) as limits
    from reached as r
    cross join owned as o
    cross join cegdb.agreeing('reached_tree') as a
    inner join counted as c on r.position_id = c.position_id
    where level is not null
)

select
    p.position,
    s.stage,
    a.variable,
    r.probability,
    if(l.is_certain, r.probability, l.limits.low) as low,
    if(l.is_certain, r.probability, l.limits.high) as high,
    l.n,
    p.position_id
from reached as r
inner join place as p on r.position_id = p.position_id
left join staged as s on p.stage_id = s.stage_id
left join asking as a on r.position_id = a.source_id
left join limited as l on r.position_id = l.position_id;

comment on macro table cegdb.position_probability is 'The probability of reaching each position of one CEG: select * from cegdb.position_probability(''falls''). Columns: position, stage, variable, probability, low, high, n, position_id. low and high are the ends of the 95 % interval by the rows alone, whatever the stages are, and n is the number of respondents that it rests on; level := 0.9 gives 90 %, level := null no interval.';
