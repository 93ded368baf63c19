-- step:    split_row
-- mode:    create
-- purpose: The situations that the user put into parts of a stage, by name (s0, s1, ..., their
--          rank in the tree) or by path.
-- reads:   floret, path_situation, stage_member
-- writes:  split_row(name, vertex_id, situation, path_id, is_in_stage)
-- params:  parts INTEGER[], the part of each situation named
--          ranks BIGINT[], the number in its name
--          staging_id INTEGER, the staging
--          stage_id BIGINT, the stage to split
-- source:  serves joining, splitting and renaming stages by hand;
--          docs/architecture.md, section Ids
with named as (
    select
        unnest(cast($parts as integer[])) as part,
        unnest(cast($ranks as bigint[])) as situation_rank
),

ranked as (
    select
        vertex_id,
        row_number() over (order by vertex_id) - 1 as situation_rank
    from temp.floret
),

chosen as (
    select
        cast(n.part as varchar) as name,
        r.vertex_id,
        's' || n.situation_rank as situation,
        null as path_id
    from named as n
    left join ranked as r on n.situation_rank = r.situation_rank
    union all
    select
        p.name,
        p.vertex_id,
        null as situation,
        p.path_id
    from temp.path_situation as p
)

select
    c.name,
    c.vertex_id,
    c.situation,
    c.path_id,
    m.vertex_id is not null as is_in_stage
from chosen as c
left join cegdb.stage_member as m
    on
        m.staging_id = $staging_id
        and m.stage_id = $stage_id
        and c.vertex_id = m.vertex_id
