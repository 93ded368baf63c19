-- step:    report_average
-- mode:    create
-- purpose: Probabilities of situations averaged over all stagings, with names.
-- reads:   averaged_answer, staged_situations, stage_edges, situation_edge
-- writes:  report_average(row_index, staging, variable, situation, path, stage, label, n,
--          staged, probability, low, high, vertex_id, label_id)
-- params:  staging VARCHAR, its name
-- source:  docs/theory.md, section 15 (Averaging over stagings)
select
    a.row_index,
    v.staging,
    v.variable,
    v.situation,
    v.path,
    v.stage,
    s.label,
    e.n,
    s.probability as staged,
    a.probability,
    a.low,
    a.high,
    a.vertex_id,
    a.label_id
from temp.averaged_answer as a
inner join cegdb.staged_situations as v
    on v.staging = $staging and a.vertex_id = v.vertex_id
inner join cegdb.stage_edges as s
    on s.staging = $staging and v.stage_id = s.stage_id and a.label_id = s.label_id
inner join temp.situation_edge as e
    on a.vertex_id = e.vertex_id and a.label_id = e.label_id
