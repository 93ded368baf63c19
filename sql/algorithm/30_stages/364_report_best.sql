-- step:    report_best
-- mode:    create
-- purpose: The stages of situations in a staging, and in the best one known, with names.
-- reads:   best_member, staged_situations
-- writes:  report_best(staging, variable, situation, path, stage, best_stage, vertex_id)
-- params:  staging VARCHAR, its name
-- source:  docs/theory.md, section 15 (Averaging over stagings)
select
    v.staging,
    v.variable,
    v.situation,
    v.path,
    v.stage,
    concat('b', b.stage_id) as best_stage,
    v.vertex_id
from temp.best_member as b
inner join cegdb.staged_situations as v
    on v.staging = $staging and b.vertex_id = v.vertex_id
