-- Each step of the recursion moves all people one edge further, so that paths are never listed.
-- Positions are numbered here, as in the view positions, so that the view of all CEGs reads only
-- the rows of each.
create macro cegdb.position_probability(ceg_name) as table
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
        max_by(p.position_id, p.height) as root_id
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
)

select
    p.position,
    s.stage,
    a.variable,
    r.probability,
    p.position_id
from reached as r
inner join place as p on r.position_id = p.position_id
left join staged as s on p.stage_id = s.stage_id
left join asking as a on r.position_id = a.source_id;

comment on macro table cegdb.position_probability is 'The probability of reaching each position of one CEG: select * from cegdb.position_probability(''falls''). Columns: position, stage, variable, probability, position_id.';
