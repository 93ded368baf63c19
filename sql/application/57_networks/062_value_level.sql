-- step:    value_level
-- mode:    fetch
-- purpose: The ids of the values of each variable of a survey, to find the rows of a network's
--          tables.
-- reads:   variable, level
-- writes:  value_level(variable, variable_id, label, level_id)
-- params:  survey_id INTEGER, the survey
-- source:  docs/theory.md, section 10 (Bayesian networks)
select
    v.name as variable,
    v.variable_id,
    l.label,
    l.level_id
from cegdb.variable as v
inner join cegdb.level as l on v.variable_id = l.variable_id
where v.survey_id = $survey_id and l.kind = 'value'
