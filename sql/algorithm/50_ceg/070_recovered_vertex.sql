-- step:    recovered_vertex
-- mode:    fetch
-- purpose: The staged tree recovered from a CEG, breadth first.
-- reads:   unrolled_vertex, position, labels
-- writes:  recovered_vertex(vertex_id, parent_id, depth, label, position_id, stage_id)
-- params:  ceg_id INTEGER, the CEG
--          survey_id INTEGER, whose labels its edges carry
-- source:  Shenvi & Smith (2020), Theorem 3;
--          docs/theory.md, section 3 (Recovering the staged tree)
select
    v.vertex_id,
    v.parent_id,
    v.depth,
    l.label,
    v.position_id,
    p.stage_id
from temp.unrolled_vertex as v
inner join cegdb.position as p on p.ceg_id = $ceg_id and v.position_id = p.position_id
left join cegdb.labels as l on l.survey_id = $survey_id and v.label_id = l.label_id
order by v.vertex_id
