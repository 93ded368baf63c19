-- step:    model_variable
-- mode:    fetch
-- purpose: The variables of a survey with the first of their level ids, from which the ids of
--          the other levels follow by code.
-- reads:   variable, level
-- writes:  model_variable(name, variable_id, first_level_id)
-- params:  survey_id INTEGER, the survey
-- source:  docs/architecture.md, section Ids;
--          serves answers for each row of a file (assign, complete, score)
select
    v.name,
    v.variable_id,
    min(l.level_id) as first_level_id
from cegdb.variable as v
inner join cegdb.level as l on v.variable_id = l.variable_id
where v.survey_id = $survey_id
group by v.name, v.variable_id
order by v.variable_id
