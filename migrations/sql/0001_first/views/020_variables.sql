create view cegdb.variables as
select
    s.name as survey,
    v.name as variable,
    v.ordinal,
    case when l.kind = 'blank' then '(blank)' else l.label end as label,
    l.kind,
    l.n,
    l.code,
    l.level_id,
    l.label_id,
    v.variable_id,
    l.original_code,
    v.question
from cegdb.level as l
inner join cegdb.variable as v on l.variable_id = v.variable_id
inner join cegdb.survey as s on v.survey_id = s.survey_id
where s.superseded_by is null;

comment on view cegdb.variables is 'One row per level of a variable, in level order.';
comment on column cegdb.variables.survey is 'Name of the survey.';
comment on column cegdb.variables.variable is 'Name of the variable.';
comment on column cegdb.variables.ordinal is 'Place of the variable in the survey, from 1 on.';
comment on column cegdb.variables.label is 'The label; (blank) for empty cells, which a tree counts as "missing" or "not applicable" by its settings.';
comment on column cegdb.variables.kind is 'value (an answer), missing (asked, answer unknown), structural (not applicable) or blank (empty cell).';
comment on column cegdb.variables.n is 'Number of respondents with this level.';
comment on column cegdb.variables.code is 'Code of the level in the table response_<survey_id>.';
comment on column cegdb.variables.level_id is 'The level (an answer to one variable); joins to level.';
comment on column cegdb.variables.label_id is 'The label; the same text has the same id in all variables of a survey. Joins to labels.';
comment on column cegdb.variables.variable_id is 'The variable; joins to variable.';
comment on column cegdb.variables.original_code is 'The text in the source, if it is known.';
comment on column cegdb.variables.question is 'The question in words; null if unknown.';
