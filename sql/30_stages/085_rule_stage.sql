-- step:    rule_stage
-- mode:    create
-- purpose: The stages that rules make: situations of a variable share one iff their
--          hyperstage and their answers to the variables it depends on are the same, not
--          asked being an answer of its own. Situations whose stage was given are left out;
--          names are longer than any given one.
-- reads:   situation_edge, floret, situation_group, given_stage, stage_rule
-- writes:  rule_stage(vertex_id, name)
-- params:  asked INTEGER[], the variables that any depends on
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          serves stages given as rules (depends=)
with recursive walk as (
    select
        f.vertex_id,
        [cast(null as integer) for _ in cast($asked as integer[])] as answers
    from temp.floret as f
    where f.vertex_id = 0
    union all
    select
        e.child_id as vertex_id,
        [
            if(cast($asked as integer[])[i] = e.variable_id, e.label_id, w.answers[i])
            for i in range(1, len(w.answers) + 1)
        ] as answers
    from walk as w
    inner join temp.situation_edge as e on w.vertex_id = e.vertex_id
    inner join temp.floret as f on e.child_id = f.vertex_id
),

keyed as (
    select
        f.vertex_id,
        f.variable_id,
        g.hyperstage_id,
        [w.answers[i] for i in r.places] as answers
    from walk as w
    inner join temp.floret as f on w.vertex_id = f.vertex_id
    inner join temp.stage_rule as r on f.variable_id = r.variable_id
    inner join temp.situation_group as g on f.vertex_id = g.vertex_id
    where f.vertex_id not in (select n.vertex_id from temp.given_stage as n)
),

named as (
    select
        vertex_id,
        min(vertex_id) over (partition by hyperstage_id, variable_id, answers) as smallest
    from keyed
),

longest as (
    select coalesce(max(length(name)), 0) + 20 as n_characters
    from temp.given_stage
)

select
    n.vertex_id,
    lpad(cast(n.smallest as varchar), cast(o.n_characters as integer), '0') as name
from named as n
cross join longest as o
