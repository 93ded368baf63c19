create view cegdb.stages as
select
    g.name as staging,
    'u' || (
        row_number() over (partition by g.staging_id, g.name order by s.stage_id) - 1
    ) as stage,
    s.name,
    q.name as variable,
    h.labels,
    s.n_situations,
    s.n,
    s.kind,
    s.colour,
    s.stage_id,
    s.hyperstage_id
from cegdb.stage as s
inner join cegdb.staging as g on s.staging_id = g.staging_id
inner join cegdb.hyperstage as h
    on s.staging_id = h.staging_id and s.hyperstage_id = h.hyperstage_id
left join cegdb.variable as q on h.variable_id = q.variable_id;

comment on view cegdb.stages is 'One row per stage of a staged tree.';
comment on column cegdb.stages.staging is 'Name of the staged tree.';
comment on column cegdb.stages.stage is 'Name of the stage: u0, u1, ... in the order of stage_id.';
comment on column cegdb.stages.name is 'Name given by the user; null if none was given.';
comment on column cegdb.stages.variable is 'The variable of its situations; null if they have several.';
comment on column cegdb.stages.labels is 'The answers, in level order.';
comment on column cegdb.stages.n_situations is 'Number of situations in the stage.';
comment on column cegdb.stages.n is 'Number of respondents who reached its situations.';
comment on column cegdb.stages.kind is 'How it was made: learnt, given, single_edge (one answer only, probability 1) or unobserved (no respondent answered its question).';
comment on column cegdb.stages.colour is 'Colour in pictures, as #rrggbb; white for a stage of one situation.';
comment on column cegdb.stages.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.stages.hyperstage_id is 'The hyperstage: the smallest vertex_id in it.';
