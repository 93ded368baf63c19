-- One row a survey: where its rows came from and how many there are. Rows that were
-- superseded by an append or a refresh, kept for stale trees, are not listed.
create view cegdb.surveys as
select
    s.name as survey,
    s.survey_id,
    s.source,
    s.n_read,
    s.n,
    s.n_distinct,
    (select count(*) from cegdb.variable as v where v.survey_id = s.survey_id) as n_variables,
    s.created_at,
    s.cegdb_version
from cegdb.survey as s
where s.superseded_by is null;
