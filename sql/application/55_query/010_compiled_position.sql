-- step:    compiled_position
-- mode:    create
-- purpose: The positions of a CEG with their variable: -1 at the sink, -2 where situations of
--          one position have different variables.
-- reads:   position, stage, hyperstage, ceg_stage, position_variable
-- writes:  compiled_position(position_id, stage_id, height, variable_id)
-- params:  ceg_id INTEGER, the CEG
--          staging_id INTEGER, its stages; null if it has its own, given evidence
-- source:  docs/theory.md, section 8 (Probability propagation)
select
    p.position_id,
    coalesce(p.stage_id, -1) as stage_id,
    p.height,
    coalesce(
        h.variable_id, g.variable_id, a.variable_id, if(p.stage_id is null, -1, -2)
    ) as variable_id
from cegdb.position as p
left join cegdb.stage as s on s.staging_id = $staging_id and p.stage_id = s.stage_id
left join cegdb.hyperstage as h
    on h.staging_id = $staging_id and s.hyperstage_id = h.hyperstage_id
left join cegdb.ceg_stage as g on g.ceg_id = $ceg_id and p.stage_id = g.stage_id
left join temp.position_variable as a on p.position_id = a.position_id
where p.ceg_id = $ceg_id
