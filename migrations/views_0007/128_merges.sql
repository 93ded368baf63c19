-- One row a merge of AHC, in the order made; a stage is named by its first situation.
create view cegdb.merges as
select
    g.name as staging,
    m.step,
    k.vertex as kept,
    a.vertex as absorbed,
    k.variable,
    m.log_bayes_factor,
    m.kept_id,
    m.absorbed_id
from cegdb.ahc_merge as m
inner join cegdb.staging as g on m.staging_id = g.staging_id
inner join cegdb.staged_vertices as k on g.name = k.staging and m.kept_id = k.vertex_id
inner join cegdb.staged_vertices as a on g.name = a.staging and m.absorbed_id = a.vertex_id;
