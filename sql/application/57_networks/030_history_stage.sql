-- step:    history_stage
-- mode:    create
-- purpose: The stage of each variable after each history of answers to the variables before it
--          (-1: not applicable), or that the variable does not apply. Situations with a single
--          edge are distinguished by its label only. Where stages were learnt, histories
--          without respondents do not count, nor do ends of the tree without respondents.
-- reads:   network_edge, vertex, stage_member, stage
-- writes:  history_stage(variable_index, vertex_id, answers, stage_key, n, mass, applicable_mass,
--          is_counted)
-- params:  tree_id INTEGER, the tree
--          staging_id INTEGER, its staging
--          variable_ids INTEGER[], the variables in the order of the tree
--          is_empty BOOLEAN, the tree has no rows
-- source:  docs/theory.md, section 10 (Bayesian networks)
with recursive walk as (
    select
        cast(0 as bigint) as vertex_id,
        0 as above,
        [-1 for _ in cast($variable_ids as integer[])] as answers,
        cast(1 as double) as mass
    union all
    select
        e.child_id as vertex_id,
        e.variable_index as above,
        [
            if(i = e.variable_index, e.label_id, w.answers[i])
            for i in range(1, len(w.answers) + 1)
        ] as answers,
        w.mass * e.probability as mass
    from walk as w
    inner join temp.network_edge as e on w.vertex_id = e.vertex_id
),

floret as (
    select
        vertex_id,
        min(variable_index) as variable_index,
        min(label_id) as label_id,
        count(*) as n_edges
    from temp.network_edge
    group by vertex_id
),

met as (
    select
        w.vertex_id,
        w.answers,
        w.mass,
        unnest(
            range(
                w.above + 1,
                coalesce(f.variable_index, len(cast($variable_ids as integer[]))) + 1
            )
        ) as variable_index,
        f.variable_index as own_index,
        if(f.n_edges = 1, f.label_id, null) as certain_id
    from walk as w
    left join floret as f on w.vertex_id = f.vertex_id
)

select
    t.variable_index,
    t.vertex_id,
    list_slice(t.answers, 1, t.variable_index - 1) as answers,
    case
        when coalesce(t.variable_index <> t.own_index, true) or t.certain_id = -1 then -1
        when t.certain_id is not null then -2 - t.certain_id
        else m.stage_id
    end as stage_key,
    if(t.variable_index = t.own_index and t.certain_id is distinct from -1, v.n, 0) as n,
    t.mass,
    if(
        t.variable_index = t.own_index and t.certain_id is distinct from -1, t.mass, 0
    ) as applicable_mass,
    if(t.variable_index = t.own_index, s.kind <> 'unobserved', v.n > 0 or $is_empty) as is_counted
from met as t
inner join cegdb.vertex as v on v.tree_id = $tree_id and t.vertex_id = v.vertex_id
left join cegdb.stage_member as m
    on m.staging_id = $staging_id and t.vertex_id = m.vertex_id
left join cegdb.stage as s
    on s.staging_id = $staging_id and m.stage_id = s.stage_id
order by t.variable_index, t.vertex_id
