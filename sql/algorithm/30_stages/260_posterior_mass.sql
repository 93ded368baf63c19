-- step:    posterior_mass
-- mode:    fetch
-- purpose: The Dirichlet posterior of a staging: the parameter of each label of each stage.
-- reads:   stage_estimate, labels
-- writes:  posterior_mass(stage_id, label, mass)
-- params:  survey_id INTEGER, whose labels they are
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          docs/theory.md, section 17 (Uncertainty of answers)
select
    e.stage_id,
    l.label,
    e.prior + e.size as mass
from temp.stage_estimate as e
inner join cegdb.labels as l on l.survey_id = $survey_id and e.label_id = l.label_id
order by e.row_index
