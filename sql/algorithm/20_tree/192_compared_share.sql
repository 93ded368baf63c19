-- step:    compared_share
-- mode:    create
-- purpose: Respondents of two levels of an earlier variable, and those of them who gave an answer
--          to the last question, by groups of a third variable. Of two answers one is enough.
-- reads:   outcome_answer, edge, level
-- writes:  compared_share(answer_id, first_id, second_id, by_id, group_id, n_first, n_second,
--          k_first, k_second)
-- params:  tree_id INTEGER, the tree
-- source:  docs/theory.md, section 25 (Associations that turn)
with asked as (
    select
        e.parent_id as situation_id,
        e.level_id as answer_id,
        e.n
    from cegdb.edge as e
    inner join cegdb.level as l on e.level_id = l.level_id
    where
        e.tree_id = $tree_id
        and l.kind = 'value'
        and e.parent_id in (select o.situation_id from temp.outcome_answer as o)
),

reached as (
    select
        situation_id,
        sum(n) as n
    from asked
    group by situation_id
),

answer as (
    select
        answer_id,
        row_number() over (order by answer_id desc) as place,
        count(*) over () as n_answers
    from asked
    group by answer_id
),

cell as (
    select
        x.variable_id,
        x.level_id,
        z.variable_id as by_id,
        z.level_id as group_id,
        sum(r.n) as n
    from temp.outcome_answer as x
    inner join temp.outcome_answer as z
        on x.situation_id = z.situation_id and x.variable_id <> z.variable_id
    inner join reached as r on x.situation_id = r.situation_id
    group by x.variable_id, x.level_id, by_id, group_id
),

answered as (
    select
        x.level_id,
        z.level_id as group_id,
        a.answer_id,
        sum(a.n) as k
    from temp.outcome_answer as x
    inner join temp.outcome_answer as z
        on x.situation_id = z.situation_id and x.variable_id <> z.variable_id
    inner join asked as a on x.situation_id = a.situation_id
    group by x.level_id, z.level_id, a.answer_id
)

select
    a.answer_id,
    f.level_id as first_id,
    s.level_id as second_id,
    f.by_id,
    f.group_id,
    f.n as n_first,
    s.n as n_second,
    coalesce(p.k, 0) as k_first,
    coalesce(q.k, 0) as k_second
from cell as f
inner join cell as s
    on
        f.variable_id = s.variable_id
        and f.group_id = s.group_id
        and f.level_id < s.level_id
inner join answer as a on a.n_answers > 2 or (a.n_answers = 2 and a.place = 1)
left join answered as p
    on f.level_id = p.level_id and f.group_id = p.group_id and a.answer_id = p.answer_id
left join answered as q
    on s.level_id = q.level_id and s.group_id = q.group_id and a.answer_id = q.answer_id
where f.n > 0 and s.n > 0
