-- step:    learnable
-- mode:    create
-- purpose: The situations whose stage is learnt: those with several edges and at least one
--          respondent (or a given initial stage) that are not frozen. stage_id is the stage in
--          which each starts: its initial stage, with the id of its smallest situation; a stage
--          of its own; or one stage per hyperstage.
-- reads:   floret, situation_group, given_group
-- writes:  learnable(vertex_id, hyperstage_id, stage_id)
-- params:  starts_joined BOOLEAN, start from one stage in each hyperstage
--          with_unreached BOOLEAN, also take situations that no row reached
-- source:  docs/theory.md, section 6 (Scores and clustering)
with named as (
    select
        f.vertex_id,
        g.hyperstage_id,
        i.name,
        i.name is not null or $starts_joined as is_shared
    from temp.floret as f
    inner join temp.situation_group as g on f.vertex_id = g.vertex_id
    left join temp.given_group as i on i.role = 'initial' and f.vertex_id = i.vertex_id
    where
        f.n_edges > 1
        and (f.n > 0 or i.name is not null or $with_unreached)
        and f.vertex_id not in (
            select z.vertex_id from temp.given_group as z where z.role = 'frozen'
        )
)

select
    vertex_id,
    hyperstage_id,
    if(
        is_shared,
        min(vertex_id) over (partition by hyperstage_id, name, is_shared),
        vertex_id
    ) as stage_id
from named
