-- step:    situation_stage
-- mode:    create
-- purpose: The stage of each situation, named by its smallest one: given or learnt; where
--          there is none, single-edge florets of a hyperstage share one, and (when learning)
--          so do those never observed; any other situation is its own.
-- reads:   floret, situation_group, given_stage
-- writes:  situation_stage(vertex_id, hyperstage_id, stage_id, kind)
-- params:  is_learnt BOOLEAN, whether the stages were learnt
-- source:  DESIGN 5
with sorted as (
    select
        f.vertex_id,
        h.hyperstage_id,
        g.name,
        case
            when g.name is not null then if($is_learnt, 'learnt', 'given')
            when f.n_edges = 1 then 'single_edge'
            when $is_learnt and f.n = 0 then 'unobserved'
            when $is_learnt then 'learnt'
            else 'given'
        end as kind
    from temp.floret as f
    inner join temp.situation_group as h on f.vertex_id = h.vertex_id
    left join temp.given_stage as g on f.vertex_id = g.vertex_id
),

keyed as (
    select
        *,
        if(name is null and kind in ('given', 'learnt'), vertex_id, null) as alone
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
