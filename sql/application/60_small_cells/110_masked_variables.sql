-- step:    masked_variables
-- mode:    create
-- purpose: The view variables for one survey, with hidden counts removed.
-- reads:   variables, hidden_cell
-- writes:  masked_variables(survey, variable, ordinal, label, kind, n, code, level_id,
--          label_id, variable_id, original_code, question)
-- params:  object_name VARCHAR, the survey's
-- source:  serves output with small counts hidden (min_n)
select
    v.survey,
    v.variable,
    v.ordinal,
    v.label,
    v.kind,
    if(h.owner_id is null, v.n, null) as n,
    v.code,
    v.level_id,
    v.label_id,
    v.variable_id,
    v.original_code,
    v.question
from cegdb.variables as v
left join temp.hidden_cell as h on h.kind = 'level' and v.level_id = h.owner_id
where v.survey = $object_name
