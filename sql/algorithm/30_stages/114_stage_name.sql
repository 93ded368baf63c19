-- step:    stage_name
-- mode:    create
-- purpose: The user's name for each stage: the first of several names for one stage, and the
--          first of several stages with one name.
-- reads:   given_name, situation_stage
-- writes:  stage_name(stage_id, name)
-- params:  none
-- source:  serves names of stages given by the user
with claimed as (
    select
        s.stage_id,
        g.name,
        g.priority,
        row_number() over (
            partition by s.stage_id order by g.priority, g.vertex_id, g.name
        ) as nth_name
    from temp.given_name as g
    inner join temp.situation_stage as s on g.vertex_id = s.vertex_id
),

ranked as (
    select
        stage_id,
        name,
        row_number() over (partition by name order by priority, stage_id) as nth_stage
    from claimed
    where nth_name = 1
)

select
    stage_id,
    name
from ranked
where nth_stage = 1
