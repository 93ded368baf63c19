-- step:    situation_group
-- mode:    create
-- purpose: The hyperstage of each situation, named by its smallest one: a given group, else
--          same variable (unless labels alone decide) and same label set.
-- reads:   floret, given_hyperstage
-- writes:  situation_group(vertex_id, hyperstage_id)
-- params:  by_variable BOOLEAN, whether the variables must be the same
-- source:  SPEC 1 (hyperstage)
with keyed as (
    select
        f.vertex_id,
        f.labels,
        g.name,
        if(g.name is null and $by_variable, f.variable_id, null) as variable_id
    from temp.floret as f
    left join temp.given_hyperstage as g on f.vertex_id = g.vertex_id
),

grouped as (
    select
        labels,
        name,
        variable_id,
        min(vertex_id) as hyperstage_id
    from keyed
    group by labels, name, variable_id
)

select
    k.vertex_id,
    g.hyperstage_id
from keyed as k
inner join grouped as g
    on
        k.labels = g.labels
        and k.name is not distinct from g.name
        and k.variable_id is not distinct from g.variable_id
