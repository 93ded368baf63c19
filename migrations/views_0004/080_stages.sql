-- One row a stage, called u0, u1, ... in the order of their ids; n = rows that reached its
-- situations. variable is null where the stage spans several, name unless one was given.
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
