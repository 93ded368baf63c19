-- step:    page_level
-- mode:    create
-- purpose: The index of each label among the answers to its variable.
-- reads:   variable, level
-- writes:  page_level(variable, label_id, level_index)
-- params:  survey_id INTEGER, the survey
-- source:  serves the page of a CEG (cegdb report page)
select
    v.name as variable,
    l.label_id,
    min(l.level_id) as level_index
from cegdb.variable as v
inner join cegdb.level as l on v.variable_id = l.variable_id
where v.survey_id = $survey_id
group by v.name, l.label_id
