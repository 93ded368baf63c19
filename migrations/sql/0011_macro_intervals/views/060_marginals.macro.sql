create or replace macro cegdb.marginals(ceg_name, skip_mixed := false, level := 0.95) as table
with recursive edge as materialized (
    select
        is_own,
        source_id,
        target_id,
        variable,
        variables,
        label,
        probability
    from cegdb.ceg_answers(ceg_name)
),

ends as (
    select
        max_by(p.position_id, p.height) as root_id,
        min_by(p.position_id, p.height) as sink_id
    from cegdb.ceg as this_ceg
    inner join cegdb.position as p on this_ceg.ceg_id = p.ceg_id
    where this_ceg.name = ceg_name
),

mixed as (
    select
        variable,
        min(variables) as variables
    from (
        select
            unnest(variables) as variable,
            variables
        from edge
        where is_own and len(variables) > 1
    ) as x
    group by variable
),

answered as (
    select v.variable
    from (select distinct unnest(variables) as variable from edge) as v
    left join mixed as m on v.variable = m.variable
    where
        case
            when m.variable is null then true
            when skip_mixed then false
            else cast(
                error(
                    'a position of CEG ''' || ceg_name || ''' has situations of '
                    || array_to_string(m.variables, ' and ')
                    || ', so that these variables cannot be queried'
                    || chr(10) || 'hint: make the CEG with hyperstages=''variable'', '
                    || 'or pass skip_mixed := true'
                ) as boolean
            )
        end
),

-- All people (avoided is null) and, for each variable, those who have not answered it yet.
walk as (
    select
        a.variable as avoided,
        e.root_id as position_id,
        cast(1 as double) as probability
    from (
        select variable from answered
        union all
        select null as variable
    ) as a
    cross join ends as e
    union all
    select
        w.avoided,
        e.target_id as position_id,
        fsum(w.probability * e.probability) as probability
    from walk as w
    inner join edge as e on w.position_id = e.source_id
    where
        e.is_own
        and (
            w.avoided is null
            or e.variable is distinct from w.avoided
            or e.label = 'not applicable'
        )
    group by w.avoided, e.target_id
),

answer as (
    select
        e.variable,
        e.label,
        fsum(w.probability * e.probability) as probability
    from walk as w
    inner join edge as e on w.position_id = e.source_id
    inner join answered as a on e.variable = a.variable
    where w.avoided is null and e.is_own and e.label <> 'not applicable'
    group by e.variable, e.label
    union all
    select
        w.avoided as variable,
        'not applicable' as label,
        fsum(w.probability) as probability
    from walk as w
    inner join ends as e on w.position_id = e.sink_id
    where w.avoided is not null
    group by w.avoided
),

marginals_tree as materialized (
    select *
    from cegdb.counted_edges(ceg_name)
    where level is not null
),

-- The rows of the tree, for each variable, until its answer is known. rate: probability over
-- rows; what nobody answered is open, and has no probability where no row arrives.
told as (
    select
        a.variable,
        cast(null as varchar) as label,
        t.vertex_id,
        cast(1 as double) as chance,
        cast(0 as double) as rate,
        t.effect,
        false as is_end,
        false as is_open
    from answered as a
    inner join marginals_tree as t on t.parent_id is null
    union all
    select
        w.variable,
        case
            when w.label is not null then w.label
            when t.variable = w.variable and t.label <> 'not applicable' then t.label
            when t.is_leaf then 'not applicable'
        end as label,
        t.vertex_id,
        w.chance * t.share * t.factor as chance,
        w.chance * t.factor * greatest(w.effect, t.effect) / t.total as rate,
        greatest(w.effect, t.effect) as effect,
        (
            w.label is not null
            or t.is_leaf
            or t.variable = w.variable and t.label <> 'not applicable'
        ) and t.is_decided as is_end,
        not t.is_answered as is_open
    from told as w
    inner join marginals_tree as t on w.vertex_id = t.parent_id
    where not w.is_end and not w.is_open
),

ended as (
    select
        variable,
        if(is_end, label, null) as label,
        fsum(chance) as chance,
        fsum(chance * rate) as spread,
        max(rate) as rate
    from told
    where is_end or is_open
    group by variable, if(is_end, label, null)
),

whole as (
    select
        variable,
        coalesce(fsum(chance) filter (where label is not null), 0) as chance,
        coalesce(fsum(spread) filter (where label is not null), 0) as spread,
        coalesce(fsum(chance) filter (where label is null), 0) as open,
        coalesce(max(rate) filter (where label is null), 0) as rate
    from ended
    group by variable
)

select
    x.variable,
    x.label,
    x.probability,
    if(x.is_certain, x.probability, x.limits.low) as low,
    if(x.is_certain, x.probability, x.limits.high) as high,
    x.n
from (
    select
        a.variable,
        a.label,
        a.probability,
        level is not null
        and k.variable is not null
        and (a.probability < 1e-12 or a.probability > 1 - 1e-12) as is_certain,
        g.n,
        cegdb.share_limits(
            a.probability,
            coalesce(e.chance, 0),
            w.chance - coalesce(e.chance, 0),
            coalesce(e.spread, 0),
            w.spread - coalesce(e.spread, 0),
            greatest(e.rate, w.rate),
            w.open,
            level
        ) as limits
    from answer as a
    left join ended as e on a.variable = e.variable and a.label = e.label
    left join whole as w on a.variable = w.variable
    left join (
        select variable
        from cegdb.known_variables(ceg_name)
    ) as k on a.variable = k.variable
    cross join cegdb.agreeing('marginals_tree') as g
) as x;

comment on macro table cegdb.marginals is 'The probability of each answer to each variable of one CEG: select * from cegdb.marginals(''falls''). ''not applicable'' stands for paths without the variable. A variable that shares a position with others is an error; skip_mixed := true leaves it out. Columns: variable, label, probability, low, high, n. low and high are the ends of the 95 % interval by the rows alone, whatever the stages are, and n is the number of respondents that it rests on; level := 0.9 gives 90 %, level := null no interval.';
