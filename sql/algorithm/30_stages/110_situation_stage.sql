-- step:    situation_stage
-- mode:    create
-- purpose: The stage of each situation, with the id of its smallest situation: frozen, given or
--          learnt. Of the others, situations with a single edge share one stage per hyperstage
--          (unless each is to be apart), and so do, when stages are learnt, situations that no
--          respondent reached; any other situation is its own stage.
-- reads:   floret, situation_group, given_group, learnt_stage
-- writes:  situation_stage(vertex_id, hyperstage_id, stage_id, kind)
-- params:  is_learnt BOOLEAN, whether stages were learnt
--          is_apart BOOLEAN, whether each single-edge floret is its own stage
-- source:  docs/theory.md, section 6 (Scores and clustering)
with sorted as (
    select
        f.vertex_id,
        h.hyperstage_id,
        coalesce(z.name, g.name, cast(t.stage_id as varchar)) as name,
        case
            when z.name is not null or g.name is not null then 'given'
            when t.stage_id is not null then 'learnt'
            when f.n_edges = 1 then 'single_edge'
            when $is_learnt and f.n = 0 then 'unobserved'
            when $is_learnt then 'learnt'
            else 'given'
        end as kind
    from temp.floret as f
    inner join temp.situation_group as h on f.vertex_id = h.vertex_id
    left join temp.given_group as g on g.role = 'stage' and f.vertex_id = g.vertex_id
    left join temp.given_group as z on z.role = 'frozen' and f.vertex_id = z.vertex_id
    left join temp.learnt_stage as t on f.vertex_id = t.vertex_id
),

keyed as (
    select
        *,
        if(
            name is null
            and (kind in ('given', 'learnt') or (kind = 'single_edge' and $is_apart)),
            vertex_id,
            null
        ) as alone
    from sorted
),

grouped as (
    select
        hyperstage_id,
        kind,
        name,
        alone,
        min(vertex_id) as stage_id
    from keyed
    group by hyperstage_id, kind, name, alone
)

select
    k.vertex_id,
    k.hyperstage_id,
    g.stage_id,
    k.kind
from keyed as k
inner join grouped as g
    on
        k.hyperstage_id = g.hyperstage_id
        and k.kind = g.kind
        and k.name is not distinct from g.name
        and k.alone is not distinct from g.alone
