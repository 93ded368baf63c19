-- One row a label of a survey: the same text has the same id in all its variables.
create view cegdb.labels as
select distinct
    s.name as survey,
    s.survey_id,
    l.label_id,
    l.label
from cegdb.level as l
inner join cegdb.variable as v on l.variable_id = v.variable_id
inner join cegdb.survey as s on v.survey_id = s.survey_id;
