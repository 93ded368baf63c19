-- Each combination of answers is computed once. The recursion moves the people who may still match
-- one edge further; their state is the number of required answers given so far, so that paths are
-- never listed. Each row gets a struct "cegdb answer": the event and the evidence as text, and
-- two probabilities, whole (of event and evidence together) and given (of the evidence), with the
-- interval (low, high) of their ratio, and how many respondents (n) meet the evidence.
create or replace macro cegdb.row_masses(ceg_name, questions, targets, level := 0.95) as table
-- The names of the subqueries are such that none hides the user's table.
with recursive "cegdb asked" as materialized (
    select
        row_number() over () as "cegdb row",
        *
    from query_table(questions)
),

cegdb_edge as materialized (
    select
        is_own,
        source_id,
        target_id,
        variable,
        variables,
        variable_id,
        label,
        raw_labels,
        level_id,
        probability
    from cegdb.ceg_answers(ceg_name)
),

cegdb_ends as (
    select
        max_by(p.position_id, p.height) as root_id,
        min_by(p.position_id, p.height) as sink_id
    from cegdb.ceg as this_ceg
    inner join cegdb.position as p on this_ceg.ceg_id = p.ceg_id
    where this_ceg.name = ceg_name
),

cegdb_known_variable as (
    select distinct unnest(variables) as variable
    from cegdb_edge
),

cegdb_mixed as (
    select
        variable,
        arg_min(variables, place) as variables,
        min(place) as place
    from (
        select
            unnest(variables) as variable,
            variables,
            dense_rank() over (
                order by source_id
            ) - 1 as place
        from cegdb_edge
        where is_own
    ) as x
    where len(variables) > 1
    group by variable
),

-- The columns that are variables, by exact name, else ignoring case.
cegdb_column_name as (
    select
        unnest(n.names) as name,
        unnest(k.types) as type,
        generate_subscripts(n.names, 1) as place
    from (
        select list_value(*columns(*)) as names
        from (
            select alias(columns(a.* exclude ("cegdb row")))
            from (select 1 as one) as o
            left join "cegdb asked" as a on o.one = a."cegdb row"
        ) as x
    ) as n
    cross join (
        select list_value(*columns(*)) as types
        from (
            select typeof(columns(a.* exclude ("cegdb row")))
            from (select 1 as one) as o
            left join "cegdb asked" as a on o.one = a."cegdb row"
        ) as x
    ) as k
),

cegdb_named as (
    select
        c.place,
        c.type,
        coalesce(max(v.variable) filter (where v.variable = c.name), min(v.variable))
            as variable,
        count(*) filter (where v.variable = c.name) as n_exact,
        count(*) as n_fitting
    from cegdb_column_name as c
    inner join cegdb_known_variable as v on lower(c.name) = lower(v.variable)
    group by c.place, c.name, c.type
),

cegdb_wanted as materialized (
    select
        place,
        type,
        variable,
        row_number() over (
            order by place
        ) as nth
    from cegdb_named
    where n_exact > 0 or n_fitting = 1
),

cegdb_place_list as (
    select
        case
            when count(w.place) > 0 then list_sort(list(w.place))
            else error(
                'no column of ' || questions || ' is named like a variable of CEG ''' || ceg_name
                || '''; available: ''' || (
                    select array_to_string(list_sort(list(v.variable)), ''', ''') || ''''
                    from cegdb_known_variable as v
                )
            )
        end as places
    from cegdb_wanted as w
),

cegdb_row_key as materialized (
    select
        t."cegdb row",
        list_select(t.cells, p.places) as cells
    from (
        select
            "cegdb row",
            list_value(*columns(* exclude ("cegdb row"))) as cells
        from (
            select
                "cegdb row",
                cast(columns(* exclude ("cegdb row")) as varchar)
            from "cegdb asked"
        ) as x
    ) as t
    cross join cegdb_place_list as p
),

cegdb_combination as materialized (
    select
        cells,
        row_number() over () as combination_id
    from (select distinct cells from cegdb_row_key) as x
),

-- Numbers and truth values, written as in labels.
cegdb_written as (
    select
        c.combination_id,
        w.nth,
        w.variable,
        nullif(
            case
                when w.type = 'BOOLEAN' then if(c.cells[w.nth] = 'true', 'True', 'False')
                when w.type not in ('FLOAT', 'DOUBLE') and w.type not like 'DECIMAL%'
                    then c.cells[w.nth]
                when c.cells[w.nth] in ('nan', '-nan') then null
                when w.type like 'DECIMAL%' and not contains(c.cells[w.nth], '.')
                    then c.cells[w.nth]
                when w.type like 'DECIMAL%'
                    then regexp_replace(
                        regexp_replace(c.cells[w.nth], '\.?0+$', ''), '^-?$|^-0$', '0'
                    )
                else regexp_replace(regexp_replace(c.cells[w.nth], '\.0$', ''), '^-0$', '0')
            end,
            ''
        ) as value
    from cegdb_combination as c
    cross join cegdb_wanted as w
    where c.cells[w.nth] is not null
),

cegdb_answer_label as (
    select
        variable,
        label,
        min(level_id) as level_id
    from cegdb_edge
    where variable is not null
    group by variable, label
),

cegdb_label_list as (
    select
        variable,
        list(label) as labels
    from cegdb_answer_label
    group by variable
),

cegdb_coded as (
    select
        e.variable,
        v.original_code as code,
        min(e.label) as label
    from (
        select
            variable,
            variable_id,
            label,
            unnest(raw_labels) as raw_label
        from cegdb_edge
    ) as e
    inner join cegdb.level as v on e.variable_id = v.variable_id and e.raw_label = v.label
    where v.original_code is not null
    group by e.variable, v.original_code
    having min(e.label) = max(e.label)
),

cegdb_meant as (
    select
        x.variable,
        x.value,
        case
            when m.variable is not null then error(
                'position w' || cast(m.place as varchar) || ' of CEG ''' || ceg_name
                || ''' has situations of ' || array_to_string(m.variables, ' and ')
                || ', so that these variables cannot be queried' || chr(10)
                || 'hint: make the CEG with hyperstages=''variable'''
            )
            when a.label is not null then a.label
            when x.value = 'not applicable' then x.value
            when c.label is not null then c.label
            else error(
                '''' || x.value || ''' is not a label of ''' || x.variable || ''' in CEG '''
                || ceg_name || '''; available: ' || cegdb.nearest(x.value, l.labels)
            )
        end as label
    from (select distinct variable, value from cegdb_written where value is not null) as x
    left join cegdb_mixed as m on x.variable = m.variable
    left join cegdb_answer_label as a on x.variable = a.variable and x.value = a.label
    left join cegdb_coded as c on x.variable = c.variable and x.value = c.code
    left join cegdb_label_list as l on x.variable = l.variable
),

cegdb_in_question as (
    select distinct
        case
            when w.variable is not null then w.variable
            when v.variable is not null then error(
                questions || ' has no column ''' || q.name || ''', whose probability is requested'
            )
            else error(
                'no variable ' || coalesce('''' || q.name || '''', 'NULL') || ' in CEG '''
                || ceg_name || '''; available: ' || cegdb.nearest(q.name, k.names)
            )
        end as variable
    from (select unnest(cast(targets as varchar[])) as name) as q
    cross join (select list(variable) as names from cegdb_known_variable) as k
    left join cegdb_wanted as w on q.name = w.variable
    left join cegdb_known_variable as v on q.name = v.variable
),

cegdb_asked_answer as materialized (
    select
        x.combination_id,
        x.nth,
        x.variable,
        m.label,
        q.variable is null and targets is not null as is_evidence
    from cegdb_written as x
    inner join cegdb_meant as m on x.variable = m.variable and x.value = m.value
    left join cegdb_in_question as q on x.variable = q.variable
),

-- What a path must satisfy: for all answers together, and for the evidence alone.
cegdb_demand as materialized (
    select
        combination_id,
        false as is_given,
        variable,
        label
    from cegdb_asked_answer
    union all
    select
        combination_id,
        true as is_given,
        variable,
        label
    from cegdb_asked_answer
    where is_evidence
),

cegdb_goal as (
    select
        combination_id,
        is_given,
        count(*) filter (where label <> 'not applicable') as n_wanted
    from cegdb_demand
    group by combination_id, is_given
),

cegdb_own_edge as materialized (
    select
        source_id,
        target_id,
        variable,
        label,
        probability
    from cegdb_edge
    where is_own
),

cegdb_walk as (
    select
        g.combination_id,
        g.is_given,
        e.root_id as position_id,
        cast(0 as bigint) as n_met,
        cast(1 as double) as probability
    from cegdb_goal as g
    cross join cegdb_ends as e
    union all
    select
        w.combination_id,
        w.is_given,
        e.target_id as position_id,
        w.n_met + if(d.label <> 'not applicable', 1, 0) as n_met,
        fsum(w.probability * e.probability) as probability
    from cegdb_walk as w
    inner join cegdb_own_edge as e on w.position_id = e.source_id
    left join cegdb_demand as d
        on
            w.combination_id = d.combination_id
            and w.is_given = d.is_given
            and e.variable = d.variable
    where d.label is null or d.label = e.label
    group by
        w.combination_id,
        w.is_given,
        e.target_id,
        w.n_met + if(d.label <> 'not applicable', 1, 0)
),

cegdb_ended as (
    select
        g.combination_id,
        g.is_given,
        coalesce(fsum(w.probability), 0) as probability
    from cegdb_goal as g
    cross join cegdb_ends as e
    left join cegdb_walk as w
        on
            g.combination_id = w.combination_id
            and g.is_given = w.is_given
            and g.n_wanted = w.n_met
            and e.sink_id = w.position_id
    group by g.combination_id, g.is_given
),

cegdb_said as (
    select
        combination_id,
        list_sort(list(struct_pack(nth := nth, text := variable || ' = ' || label))
        filter (where not is_evidence)) as event,
        list_sort(list(struct_pack(nth := nth, text := variable || ' = ' || label))
        filter (where is_evidence)) as evidence
    from cegdb_asked_answer
    group by combination_id
),

cegdb_tree as materialized (
    select *
    from cegdb.counted_edges(ceg_name)
    where level is not null
),

cegdb_aim as (
    select
        c.combination_id,
        count(a.label) filter (where a.is_evidence and a.label <> 'not applicable') as n_given,
        count(a.label) filter (where not a.is_evidence and a.label <> 'not applicable')
            as n_event,
        coalesce(bool_or(a.is_evidence and a.label = 'not applicable'), false)
            as is_given_late,
        coalesce(bool_or(not a.is_evidence and a.label = 'not applicable'), false)
            as is_event_late
    from cegdb_combination as c
    left join cegdb_asked_answer as a on c.combination_id = a.combination_id
    group by c.combination_id
),

-- The rows of the tree that may still meet the evidence, until it is known whether they have
-- the event (is_missed: they have not). rate: probability over rows.
cegdb_way as (
    select
        a.*,
        t.vertex_id,
        t.n,
        cast(0 as bigint) as n_given_met,
        cast(0 as bigint) as n_event_met,
        false as is_missed,
        cast(1 as double) as chance,
        cast(0 as double) as rate,
        t.effect,
        a.n_given = 0 and not a.is_given_late and t.is_certain as is_counted,
        a.n_given = 0 and not a.is_given_late and t.is_certain as is_first,
        a.n_given = 0 and not a.is_given_late
        and a.n_event = 0 and not a.is_event_late
        and t.is_decided as is_end,
        false as is_open
    from cegdb_aim as a
    inner join cegdb_tree as t on t.parent_id is null
    union all
    select
        s.combination_id,
        s.n_given,
        s.n_event,
        s.is_given_late,
        s.is_event_late,
        s.vertex_id,
        s.n,
        s.n_given_met,
        s.n_event_met,
        s.is_missed or s.is_leaf and s.n_event_met < s.n_event as is_missed,
        s.chance,
        s.rate,
        s.effect,
        s.is_counted or s.is_met and s.is_certain as is_counted,
        s.is_met and s.is_certain and not s.is_counted as is_first,
        s.is_met and s.is_settled and s.is_decided as is_end,
        not s.is_leaf and not s.is_answered
        and not (s.is_met and s.is_settled and s.is_decided) as is_open
    from (
        select
            x.*,
            x.n_given_met = x.n_given and (x.is_leaf or not x.is_given_late) as is_met,
            x.is_leaf
            or x.is_missed
            or x.n_event_met = x.n_event and not x.is_event_late as is_settled
        from (
            select
                w.combination_id,
                w.n_given,
                w.n_event,
                w.is_given_late,
                w.is_event_late,
                w.is_counted,
                t.vertex_id,
                t.n,
                t.is_leaf,
                t.is_answered,
                t.is_decided,
                t.is_certain,
                w.n_given_met
                + if(a.is_evidence and a.label <> 'not applicable', 1, 0) as n_given_met,
                w.n_event_met
                + if(not a.is_evidence and a.label = t.label and a.label <> 'not applicable', 1, 0)
                    as n_event_met,
                w.is_missed or coalesce(a.label <> t.label, false) as is_missed,
                w.chance * t.share * t.factor as chance,
                w.chance * t.factor * greatest(w.effect, t.effect) / t.total as rate,
                greatest(w.effect, t.effect) as effect
            from cegdb_way as w
            inner join cegdb_tree as t on w.vertex_id = t.parent_id
            left join cegdb_asked_answer as a
                on w.combination_id = a.combination_id and t.variable = a.variable
            where
                not w.is_end
                and not w.is_open
                and (a.label is null or not a.is_evidence or a.label = t.label)
        ) as x
    ) as s
),

cegdb_way_sum as (
    select
        combination_id,
        cast(coalesce(sum(n) filter (where is_first), 0) as bigint) as n,
        coalesce(fsum(chance) filter (where is_end and not is_missed), 0) as event,
        coalesce(fsum(chance) filter (where is_end and is_missed), 0) as other,
        coalesce(fsum(chance * rate) filter (where is_end and not is_missed), 0)
            as event_spread,
        coalesce(fsum(chance * rate) filter (where is_end and is_missed), 0) as other_spread,
        coalesce(fsum(chance) filter (where is_open), 0) as open,
        coalesce(
            max(rate) filter (where is_end and not is_missed or is_open), max(rate)
        ) as rate
    from cegdb_way
    group by combination_id
),

-- What the evidence of the CEG names is known.
cegdb_unknown as (
    select
        a.combination_id,
        bool_or(k.variable is null) as is_unknown
    from cegdb_asked_answer as a
    left join cegdb.known_variables(ceg_name) as k on a.variable = k.variable
    where not a.is_evidence
    group by a.combination_id
),

cegdb_found as (
    select
        c.combination_id,
        c.cells,
        coalesce(array_to_string([one.text for one in s.event], ', '), '') as event,
        coalesce(array_to_string([one.text for one in s.evidence], ', '), '') as evidence,
        coalesce(w.probability, 1) as whole,
        coalesce(g.probability, 1) as given,
        coalesce(w.probability, 1) / nullif(coalesce(g.probability, 1), 0) as share,
        coalesce(u.is_unknown, false) as is_unknown
    from cegdb_combination as c
    left join cegdb_said as s on c.combination_id = s.combination_id
    left join cegdb_ended as w on c.combination_id = w.combination_id and not w.is_given
    left join cegdb_ended as g on c.combination_id = g.combination_id and g.is_given
    left join cegdb_unknown as u on c.combination_id = u.combination_id
),

cegdb_limit as (
    select
        f.combination_id,
        l.n,
        case
            when level is null then null
            when not f.is_unknown and (f.share < 1e-12 or f.share > 1 - 1e-12)
                then struct_pack(low := f.share, high := f.share)
            else cegdb.share_limits(
                f.share,
                l.event,
                l.other,
                l.event_spread,
                l.other_spread,
                l.rate,
                l.open,
                level
            )
        end as limits
    from cegdb_found as f
    inner join cegdb_way_sum as l on f.combination_id = l.combination_id
),

cegdb_answer as (
    select
        f.cells,
        struct_pack(
            event := f.event,
            evidence := f.evidence,
            whole := f.whole,
            given := f.given,
            low := l.limits.low,
            high := l.limits.high,
            n := l.n
        ) as "cegdb answer"
    from cegdb_found as f
    left join cegdb_limit as l on f.combination_id = l.combination_id
)

select
    t.* exclude ("cegdb row"),
    a."cegdb answer"
from "cegdb asked" as t
inner join cegdb_row_key as k on t."cegdb row" = k."cegdb row"
inner join cegdb_answer as a on k.cells = a.cells;

comment on macro table cegdb.row_masses is 'The rows of the table named by questions, each with the probability of its answers and of its evidence, and the interval of their ratio; event_probability and conditional_probability read it. Variables that are not in targets are evidence; if targets is null, there is no evidence.';
