-- Describes the situations of each stage (merged): situations that differ in the last variable only
-- become one set with several labels there; then sets that differ in the variable before it only,
-- and so on. A variable is not named if all its answers occur. Paths are walked for the requested
-- stagings only, as in the macro situation_paths.
create view cegdb.stage_table as
select
    g.name as staging,
    w.stage,
    w.name,
    w.variable,
    w.situations,
    w.n_situations,
    w.n_stage,
    w.label,
    w.n,
    w.weight,
    w.prior,
    w.share,
    w.probability,
    w.low,
    w.high,
    w.kind,
    w.colour,
    w.stage_id,
    w.label_id
from cegdb.staging as g
cross join
    lateral (
        with recursive place as materialized (
            select
                x.staging_id,
                x.tree_id,
                v.variable_id,
                row_number() over (
                    partition by x.staging_id
                    order by min(v.depth), v.variable_id
                ) as place
            from (
                select distinct
                    g.staging_id,
                    g.tree_id
            ) as x
            inner join cegdb.vertex as v on x.tree_id = v.tree_id
            where v.variable_id is not null
            group by x.staging_id, x.tree_id, v.variable_id
        ),

        step as materialized (
            select
                e.parent_id,
                e.child_id,
                e.level_id,
                p.place
            from place as p
            inner join cegdb.level as l on p.variable_id = l.variable_id
            inner join cegdb.edge as e
                on p.tree_id = e.tree_id and l.level_id = e.level_id
            inner join cegdb.vertex as c
                on e.tree_id = c.tree_id and e.child_id = c.vertex_id
            where c.variable_id is not null
        ),

        -- answers: the level of each variable on the path, 0 if it is not asked
        walk as (
            select
                cast(0 as bigint) as vertex_id,
                list(cast(0 as integer)) as answers
            from place
            union all
            select
                s.child_id as vertex_id,
                w.answers[1:s.place - 1] || [s.level_id] || w.answers[s.place + 1:]
                    as answers
            from walk as w
            inner join step as s on w.vertex_id = s.parent_id
        ),

        asked as materialized (
            select
                m.stage_id,
                v.variable_id,
                w.vertex_id,
                w.answers,
                count(*) over (partition by m.stage_id) > 1 as is_shared
            from walk as w
            inner join cegdb.stage_member as m
                on g.staging_id = m.staging_id and w.vertex_id = m.vertex_id
            inner join cegdb.vertex as v
                on g.tree_id = v.tree_id and w.vertex_id = v.vertex_id
        ),

        seen as (
            select
                a.variable_id,
                p.place,
                list_sort(list(distinct a.answers[p.place])) as levels
            from asked as a
            cross join place as p
            group by a.variable_id, p.place
        ),

        merged as (
            select
                if(a.is_shared, len(a.answers), 0) as place,
                a.stage_id,
                a.variable_id,
                [[one] for one in a.answers] as levels, -- noqa: RF03
                cast(1 as bigint) as n_situations,
                a.vertex_id as first_id
            from asked as a
            union all
            select
                m.place - 1 as place,
                m.stage_id,
                m.variable_id,
                m.levels[1:m.place - 1]
                || [list_sort(flatten(list(m.levels[m.place])))]
                || m.levels[m.place + 1:] as levels,
                cast(sum(m.n_situations) as bigint) as n_situations,
                min(m.first_id) as first_id
            from merged as m
            where m.place > 0
            group by
                m.place,
                m.stage_id,
                m.variable_id,
                m.levels[1:m.place - 1],
                m.levels[m.place + 1:]
        ),

        ranked as (
            select
                m.stage_id,
                m.variable_id,
                m.levels,
                m.n_situations,
                row_number() over (partition by m.stage_id order by m.first_id) as number,
                sum(m.n_situations) over (partition by m.stage_id) as n_all,
                min(m.variable_id) over (partition by m.stage_id)
                < max(m.variable_id) over (partition by m.stage_id) as is_mixed
            from merged as m
            where m.place = 0
        ),

        answer as (
            select
                r.stage_id,
                r.number,
                p.place,
                p.variable_id,
                unnest(r.levels[p.place]) as level_id
            from ranked as r
            cross join place as p
            inner join seen as s
                on r.variable_id = s.variable_id and p.place = s.place
            where r.number <= 3 and r.levels[p.place] <> s.levels
        ),

        condition as (
            select
                a.stage_id,
                a.number,
                a.place,
                a.variable_id,
                list_sort(
                    list(
                        struct_pack(
                            level_id := a.level_id,
                            label := coalesce(l.label, 'not applicable')
                        )
                    )
                ) as labels
            from answer as a
            left join cegdb.level as l on a.level_id = l.level_id
            group by a.stage_id, a.number, a.place, a.variable_id
        ),

        phrase as (
            select
                c.stage_id,
                c.number,
                list_sort(
                    list(
                        struct_pack(
                            place := c.place,
                            words := q.name || if(
                                len(c.labels) = 1,
                                ' = ' || c.labels[1].label,
                                ' in ('
                                || array_to_string([x.label for x in c.labels], ', ')
                                || ')'
                            )
                        )
                    )
                ) as phrases
            from condition as c
            inner join cegdb.variable as q on c.variable_id = q.variable_id
            group by c.stage_id, c.number
        ),

        sentence as (
            select
                r.stage_id,
                r.n_all,
                r.n_situations,
                r.number,
                if(r.is_mixed, q.name || ': ', '') || coalesce(
                    array_to_string([x.words for x in p.phrases], ', '), 'all'
                ) as words
            from ranked as r
            inner join cegdb.variable as q on r.variable_id = q.variable_id
            left join phrase as p
                on r.stage_id = p.stage_id and r.number = p.number
            where r.number <= 3
        ),

        said as (
            select
                stage_id,
                list_sort(list(struct_pack(number := number, words := words))) as sentences,
                max(n_all) - sum(n_situations) as n_more
            from sentence
            group by stage_id
        ),

        answered as materialized (
            select
                x.tree_id,
                s.name,
                s.hyperstage_id,
                s.n_situations,
                s.n as n_stage,
                s.kind,
                s.colour,
                e.*
            from (
                select distinct
                    g.staging_id,
                    g.tree_id
            ) as x
            inner join cegdb.stage_edge as e on x.staging_id = e.staging_id
            inner join cegdb.stage as s
                on x.staging_id = s.staging_id and e.stage_id = s.stage_id
        )

        select
            'u' || (dense_rank() over (order by d.stage_id) - 1) as stage,
            a.name,
            q.name as variable,
            array_to_string([x.words for x in d.sentences], '; ')
            || if(d.n_more > 0, ' and ' || cast(d.n_more as varchar) || ' more', '')
                as situations,
            a.n_situations,
            a.n_stage,
            a.kind,
            a.colour,
            d.stage_id,
            l.label,
            a.n,
            a.weight,
            a.prior,
            a.share,
            a.probability,
            a.low,
            a.high,
            a.label_id
        from said as d
        inner join answered as a on d.stage_id = a.stage_id
        inner join cegdb.hyperstage as h
            on a.staging_id = h.staging_id and a.hyperstage_id = h.hyperstage_id
        left join cegdb.variable as q on h.variable_id = q.variable_id
        inner join cegdb.event_tree as t on a.tree_id = t.tree_id
        inner join cegdb.labels as l
            on t.survey_id = l.survey_id and a.label_id = l.label_id
    ) as w;

comment on view cegdb.stage_table is 'One row per stage and answer, for tables in papers, with the situations of the stage in words. Intervals hold given the staging: uncertainty about the stages is not included.';
comment on column cegdb.stage_table.staging is 'Name of the staged tree.';
comment on column cegdb.stage_table.stage is 'Name of the stage: u0, u1, ... in the order of stage_id.';
comment on column cegdb.stage_table.name is 'Name given by the user; null if none was given.';
comment on column cegdb.stage_table.variable is 'The variable of the stage; null if it has several.';
comment on column cegdb.stage_table.situations is 'Which situations the stage holds: the answers that define them, sets of answers joined by ''; ''; at most three sets are written out. All paths are in the view staged_situations.';
comment on column cegdb.stage_table.n_situations is 'Number of situations in the stage.';
comment on column cegdb.stage_table.n_stage is 'Number of respondents who reached the stage.';
comment on column cegdb.stage_table.label is 'The answer.';
comment on column cegdb.stage_table.n is 'Number of respondents who gave the answer.';
comment on column cegdb.stage_table.weight is 'Sum of the weights of the respondents counted in n; null without weights.';
comment on column cegdb.stage_table.prior is 'Prior mass of the answer (parameter of the Dirichlet distribution), above 0.';
comment on column cegdb.stage_table.share is 'Observed share of the answer, from 0 to 1: n / total, or weight / total weight; null if nobody answered.';
comment on column cegdb.stage_table.probability is 'Posterior mean of the answer''s probability in the stage, from 0 to 1.';
comment on column cegdb.stage_table.low is 'Lower end of the 95 % credible interval, given the staging; null for a single edge.';
comment on column cegdb.stage_table.high is 'Upper end of the 95 % credible interval, given the staging; null for a single edge.';
comment on column cegdb.stage_table.kind is 'How it was made: learnt, given, single_edge (one answer only, probability 1) or unobserved (no respondent answered its question).';
comment on column cegdb.stage_table.colour is 'Colour in pictures, as #rrggbb; white for a stage of one situation.';
comment on column cegdb.stage_table.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.stage_table.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
