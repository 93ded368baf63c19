-- step:    staging_stage
-- mode:    append cegdb.stage
-- purpose: The stages. A stage of one situation is white; the others take the colours of the
--          palette in turn.
-- reads:   situation_stage, vertex, stage_name
-- writes:  stage(staging_id, stage_id, hyperstage_id, n_situations, n, colour, kind,
--          name)
-- params:  staging_id INTEGER, the staging
--          tree_id INTEGER, its tree
--          palette VARCHAR[], colours as #rrggbb
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          docs/architecture.md, section Ids
with grouped as (
    select
        s.stage_id,
        min(s.hyperstage_id) as hyperstage_id,
        count(*) as n_situations,
        cast(sum(v.n) as bigint) as n,
        min(s.kind) as kind
    from temp.situation_stage as s
    inner join cegdb.vertex as v on s.vertex_id = v.vertex_id
    where v.tree_id = $tree_id
    group by s.stage_id
),

ranked as (
    select
        *,
        row_number() over (partition by n_situations > 1 order by stage_id) as colour_index
    from grouped
)

select
    $staging_id as staging_id,
    r.stage_id,
    r.hyperstage_id,
    r.n_situations,
    r.n,
    if(
        r.n_situations = 1,
        '#ffffff',
        cast($palette as varchar[])[(r.colour_index - 1) % len(cast($palette as varchar[])) + 1]
    ) as colour,
    r.kind,
    c.name
from ranked as r
left join temp.stage_name as c on r.stage_id = c.stage_id
order by r.stage_id
