-- step:    question_edge
-- mode:    create
-- purpose: The edges of a CEG with the place of their label in the order of its variable's
--          levels; labels that a staging gave come after these.
-- reads:   ceg_edge, question_position, level
-- writes:  question_edge(source_id, target_id, label_id, place, probability)
-- params:  ceg_id INTEGER, the CEG
-- source:  docs/theory.md, section 8 (Probability propagation)
with ordered as (
    select
        variable_id,
        label_id,
        min(level_id) as place
    from cegdb.level
    group by variable_id, label_id
)

select
    e.source_id,
    e.target_id,
    e.label_id,
    coalesce(o.place, 2147483647) as place,
    e.probability
from cegdb.ceg_edge as e
inner join temp.question_position as p on e.source_id = p.position_id
left join ordered as o on p.variable_id = o.variable_id and e.label_id = o.label_id
where e.ceg_id = $ceg_id
