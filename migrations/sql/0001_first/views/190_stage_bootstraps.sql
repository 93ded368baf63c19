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

comment on view cegdb.stage_bootstraps is 'One row per bootstrap of a staged tree: stages learnt again from replicates of the data.';
comment on column cegdb.stage_bootstraps.staging is 'Name of the staged tree.';
comment on column cegdb.stage_bootstraps.kind is 'nonparametric: respondents were drawn again; parametric: they were simulated from the stages.';
comment on column cegdb.stage_bootstraps.n_runs is 'Number of bootstrap replicates.';
comment on column cegdb.stage_bootstraps.seed is 'Seed of the random numbers: the same seed and data give the same result.';
comment on column cegdb.stage_bootstraps.n_situations is 'Number of situations whose stages were learnt.';
comment on column cegdb.stage_bootstraps.n_pairs is 'Number of pairs of situations that were allowed to share a stage.';
comment on column cegdb.stage_bootstraps.n_stages is 'Number of learnt stages in the staging itself.';
comment on column cegdb.stage_bootstraps.mean_stages is 'Mean number of stages learnt.';
comment on column cegdb.stage_bootstraps.min_stages is 'Smallest number of stages learnt.';
comment on column cegdb.stage_bootstraps.max_stages is 'Largest number of stages learnt.';
comment on column cegdb.stage_bootstraps.seconds is 'Time the bootstrap took, in seconds.';
comment on column cegdb.stage_bootstraps.staging_id is 'The staged tree; joins to staging.';
