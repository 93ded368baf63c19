-- step:    conditioned_stage
-- mode:    append cegdb.ceg_stage
-- purpose: The stages of a CEG given evidence. A stage of one situation is white; the others
--          take the colours of the palette in turn.
-- reads:   conditioned_node, node_position
-- writes:  ceg_stage(ceg_id, stage_id, variable_id, n_situations, n, colour)
-- params:  ceg_id INTEGER, the CEG
--          palette VARCHAR[], colours as #rrggbb
-- source:  docs/theory.md, section 8 (Probability propagation), conditioning breaks stages
with grouped as (
    select
        p.stage_id,
        nullif(min(c.variable_id), -2) as variable_id,
        cast(sum(c.n_situations) as bigint) as n_situations,
        cast(sum(c.n) as bigint) as n
    from temp.conditioned_node as c
    inner join temp.node_position as p on c.node = p.node
    where p.stage_id >= 0
    group by p.stage_id
),

ranked as (
    select
        *,
        row_number() over (partition by n_situations > 1 order by stage_id) as colour_index
    from grouped
)

select
    $ceg_id as ceg_id,
    stage_id,
    variable_id,
    n_situations,
    n,
    if(
        n_situations = 1,
        '#ffffff',
        cast($palette as varchar[])[(colour_index - 1) % len(cast($palette as varchar[])) + 1]
    ) as colour
from ranked
order by stage_id
