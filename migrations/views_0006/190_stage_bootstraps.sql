-- One row a bootstrap of a staging: how many replicates, of which seed, and the mean, smallest
-- and largest number of stages learnt; n_stages = that of the staging itself (learnt ones).
create view cegdb.stage_bootstraps as
select
    g.name as staging,
    b.kind,
    b.n_runs,
    b.seed,
    b.n_situations,
    b.n_pairs,
    (
        select count(*) from cegdb.stage as s
        where s.staging_id = b.staging_id and s.kind = 'learnt'
    ) as n_stages,
    b.mean_stages,
    b.min_stages,
    b.max_stages,
    b.seconds,
    b.staging_id
from cegdb.stage_bootstrap as b
inner join cegdb.staging as g on b.staging_id = g.staging_id;
