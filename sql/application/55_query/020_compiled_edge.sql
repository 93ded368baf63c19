-- step:    compiled_edge
-- mode:    create
-- purpose: The edges of a CEG, with the rank of their label among the levels of the variable.
--          Labels that a staging introduced come last.
-- reads:   ceg_edge, compiled_position, level
-- writes:  compiled_edge(source_id, height, variable_id, target_id, label_id, level_order,
--          probability)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 8 (Probability propagation)
with ordered as (
    select
        variable_id,
        label_id,
        min(level_id) as level_order
    from cegdb.level
    group by variable_id, label_id
)

select
    e.source_id,
    p.height,
    p.variable_id,
    e.target_id,
    e.label_id,
    coalesce(o.level_order, 2147483647) as level_order,
    e.probability
from cegdb.ceg_edge as e
inner join temp.compiled_position as p on e.source_id = p.position_id
left join ordered as o on p.variable_id = o.variable_id and e.label_id = o.label_id
where e.ceg_id = $ceg_id
