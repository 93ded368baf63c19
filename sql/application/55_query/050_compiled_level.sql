-- step:    compiled_level
-- mode:    fetch
-- purpose: The variables of a survey, with the labels of their values and the codes of these in
--          the source, in level order.
-- reads:   variable, level
-- writes:  compiled_level(variable_id, name, label_id, label, original_code)
-- params:  survey_id INTEGER, the survey
-- source:  docs/theory.md, section 8 (Probability propagation)
select
    v.variable_id,
    v.name,
    l.label_id,
    l.label,
    l.original_code
from cegdb.variable as v
left join cegdb.level as l on v.variable_id = l.variable_id and l.kind = 'value'
where v.survey_id = $survey_id
order by v.variable_id, l.level_id
