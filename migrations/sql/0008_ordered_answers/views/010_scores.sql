create view cegdb.scores as
select
    s.name as survey,
    v.name as variable,
    l.label,
    x.score,
    v.ordinal,
    l.level_id,
    v.variable_id
from cegdb.level_score as x
inner join cegdb.level as l on x.level_id = l.level_id
inner join cegdb.variable as v on l.variable_id = v.variable_id
inner join cegdb.survey as s on v.survey_id = s.survey_id
where s.superseded_by is null;

comment on view cegdb.scores is 'One row per answer of an ordered variable (ordered or scores in the codebook): the number that stands for it in means.';
comment on column cegdb.scores.survey is 'Name of the survey.';
comment on column cegdb.scores.variable is 'Name of the variable.';
comment on column cegdb.scores.label is 'The answer.';
comment on column cegdb.scores.score is 'Its score: 0, 1, ... in level order, or as the codebook gives it. A larger score is a higher answer.';
comment on column cegdb.scores.ordinal is 'Place of the variable in the survey, from 1 on.';
comment on column cegdb.scores.level_id is 'The level (an answer to one variable); joins to level.';
comment on column cegdb.scores.variable_id is 'The variable; joins to variable.';
