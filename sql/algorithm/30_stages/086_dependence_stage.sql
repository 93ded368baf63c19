-- step:    dependence_stage
-- mode:    append temp.given_group
-- purpose: The stages that dependence rules make: situations of a variable share a stage if and
--          only if they have the same hyperstage and the same answers to the variables it
--          depends on, where not being asked is an answer of its own. Situations with a given
--          stage are left out. The names are longer than any given one, so that they never
--          equal one.
-- reads:   situation_edge, floret, situation_group, given_group, dependence_rule
-- writes:  given_group(role, vertex_id, name)
-- params:  variable_ids INTEGER[], the variables whose answers matter
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          serves stages given as rules (depends=)
with recursive descent as (
    select
        f.vertex_id,
        [cast(null as integer) for _ in cast($variable_ids as integer[])] as answers
    from temp.floret as f
    where f.vertex_id = 0
    union all
    select
        e.child_id as vertex_id,
        [
            if(cast($variable_ids as integer[])[i] = e.variable_id, e.label_id, d.answers[i])
            for i in range(1, len(d.answers) + 1)
        ] as answers
    from descent as d
    inner join temp.situation_edge as e on d.vertex_id = e.vertex_id
    inner join temp.floret as f on e.child_id = f.vertex_id
),

keyed as (
    select
        f.vertex_id,
        f.variable_id,
        g.hyperstage_id,
        [d.answers[i] for i in r.answer_indices] as answers
    from descent as d
    inner join temp.floret as f on d.vertex_id = f.vertex_id
    inner join temp.dependence_rule as r on f.variable_id = r.variable_id
    inner join temp.situation_group as g on f.vertex_id = g.vertex_id
    where
        f.vertex_id not in (
            select n.vertex_id from temp.given_group as n where n.role = 'stage'
        )
),

named as (
    select
        vertex_id,
        min(vertex_id) over (partition by hyperstage_id, variable_id, answers) as smallest
    from keyed
),

longest as (
    select coalesce(max(length(name)), 0) + 20 as n_characters
    from temp.given_group
    where role = 'stage'
)

select
    'stage' as role,
    n.vertex_id,
    lpad(cast(n.smallest as varchar), cast(o.n_characters as integer), '0') as name
from named as n
cross join longest as o
