-- One row a level of a variable, in level order; n = rows of the survey with that cell.
-- Superseded rows of a survey are not listed.
-- question = the variable in words, original_code = the text in the file, where known.
create view cegdb.variables as
select
    s.name as survey,
    v.name as variable,
    v.ordinal,
    l.label,
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
