-- One row a label of a survey: the same text has the same id in all its variables. Texts
-- that a codebook declares the same share one id, and are shown by the first of them.
create view cegdb.labels as
select
    s.name as survey,
    s.survey_id,
    l.label_id,
    min_by(l.label, l.level_id) as label
from cegdb.level as l
inner join cegdb.variable as v on l.variable_id = v.variable_id
inner join cegdb.survey as s on v.survey_id = s.survey_id
group by s.name, s.survey_id, l.label_id;
