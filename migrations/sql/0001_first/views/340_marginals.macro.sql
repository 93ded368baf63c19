create macro cegdb.marginals(ceg_name, skip_mixed := false) as table
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
)

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
group by w.avoided;

comment on macro table cegdb.marginals is 'The probability of each answer to each variable of one CEG: select * from cegdb.marginals(''falls''). ''not applicable'' stands for paths without the variable. A variable that shares a position with others is an error; skip_mixed := true leaves it out. Columns: variable, label, probability.';
