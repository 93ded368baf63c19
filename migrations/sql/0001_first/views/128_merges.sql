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

comment on view cegdb.merges is 'One row per merge of two stages by agglomerative clustering, in the order made. A stage is named by its first situation.';
comment on column cegdb.merges.staging is 'Name of the staged tree.';
comment on column cegdb.merges.step is 'Number of the merge, from 1 on.';
comment on column cegdb.merges.kept is 'First situation of the stage that was kept.';
comment on column cegdb.merges.absorbed is 'First situation of the stage that was merged into it.';
comment on column cegdb.merges.variable is 'The variable of both stages.';
comment on column cegdb.merges.log_bayes_factor is 'What the score gains by the merge: log Bayes factor in favour of one stage (for AIC and BIC, half of their decrease).';
comment on column cegdb.merges.kept_id is 'stage_id of the stage that was kept.';
comment on column cegdb.merges.absorbed_id is 'stage_id of the stage that was merged into it.';
