-- step:    question_position
-- mode:    create
-- purpose: The positions of a CEG with the variable they ask, the sink last; null where their
--          situations ask several.
-- reads:   position, stage, hyperstage, ceg_stage, asked_variable
-- writes:  question_position(position_id, stage_id, height, variable_id, n)
-- params:  ceg_id INTEGER, the CEG
--          staging_id INTEGER, its stages; null if it has its own, given evidence
-- source:  docs/theory.md, section 8 (Probability propagation)
select
    p.position_id,
    p.stage_id,
    p.height,
    coalesce(h.variable_id, g.variable_id, a.variable_id) as variable_id,
    p.n
from cegdb.position as p
left join cegdb.stage as s on s.staging_id = $staging_id and p.stage_id = s.stage_id
left join cegdb.hyperstage as h
    on h.staging_id = $staging_id and s.hyperstage_id = h.hyperstage_id
left join cegdb.ceg_stage as g on g.ceg_id = $ceg_id and p.stage_id = g.stage_id
left join temp.asked_variable as a on p.position_id = a.position_id
where p.ceg_id = $ceg_id
