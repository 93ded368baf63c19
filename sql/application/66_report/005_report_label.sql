-- step:    report_label
-- mode:    fetch
-- purpose: The labels of each variable of a survey, in level order.
-- reads:   variable, level
-- writes:  report_label(variable, label)
-- params:  survey_id INTEGER, the survey
-- source:  serves the reports in words (cegdb report text)
select
    v.name as variable,
    l.label
from cegdb.level as l
inner join cegdb.variable as v on l.variable_id = v.variable_id
where v.survey_id = $survey_id and l.kind = 'value'
order by v.ordinal, l.code
