create view cegdb.stage_stability as
with pair as (
    select
        g.name as staging,
        p.*
    from cegdb.staging as g
    inner join cegdb.situation_pair as p on g.staging_id = p.staging_id
),

sided as (
    select
        staging,
        staging_id,
        kind,
        vertex_id,
        other_id,
        is_together,
        n_together / nullif(n_runs, 0) as share
    from pair
    union all
    select
        staging,
        staging_id,
        kind,
        other_id as vertex_id,
        vertex_id as other_id,
        is_together,
        n_together / nullif(n_runs, 0) as share
    from pair
),

staged as (
    select
        d.*,
        m.stage_id,
        o.stage_id as other_stage_id
    from sided as d
    inner join cegdb.stage_member as m
        on d.staging_id = m.staging_id and d.vertex_id = m.vertex_id
    inner join cegdb.stage_member as o
        on d.staging_id = o.staging_id and d.other_id = o.vertex_id
    where d.share is not null
),

inside as (
    select
        staging,
        kind,
        stage_id,
        list_sum(list_sort(list(share))) / count(*) as mean_share,
        min(share) as min_share
    from staged
    where is_together
    group by staging, kind, stage_id
),

outside as (
    select
        *,
        row_number() over (
            partition by staging, kind, stage_id
            order by share desc, other_id asc, vertex_id asc
        ) as place
    from staged
    where not is_together
)

select
    g.name as staging,
    b.kind,
    s.stage,
    s.variable,
    s.n_situations,
    b.n_runs,
    i.mean_share,
    i.min_share,
    x.share as max_share_outside,
    v.situation as outside,
    v.path as outside_path,
    v.stage as outside_stage,
    s.stage_id,
    x.other_id as outside_id
from cegdb.stage_bootstrap as b
inner join cegdb.staging as g on b.staging_id = g.staging_id
inner join cegdb.stages as s on g.name = s.staging and s.kind = 'learnt'
left join inside as i
    on g.name = i.staging and b.kind = i.kind and s.stage_id = i.stage_id
left join outside as x
    on
        g.name = x.staging
        and b.kind = x.kind
        and s.stage_id = x.stage_id
        and x.place = 1
left join cegdb.staged_situations as v on g.name = v.staging and x.other_id = v.vertex_id;

comment on view cegdb.stage_stability is 'One row per learnt stage and kind of bootstrap. A stage is stable if min_share is near 1 and max_share_outside is near 0.';
comment on column cegdb.stage_stability.staging is 'Name of the staged tree.';
comment on column cegdb.stage_stability.kind is 'nonparametric: respondents were drawn again; parametric: they were simulated from the stages.';
comment on column cegdb.stage_stability.stage is 'Name of the stage: u0, u1, ... in the order of stage_id.';
comment on column cegdb.stage_stability.variable is 'The variable of the stage; null if it has several.';
comment on column cegdb.stage_stability.n_situations is 'Number of situations in the stage.';
comment on column cegdb.stage_stability.n_runs is 'Number of bootstrap replicates.';
comment on column cegdb.stage_stability.mean_share is 'Mean share of replicates in which two situations of the stage were together, from 0 to 1; null for a stage of one situation.';
comment on column cegdb.stage_stability.min_share is 'Smallest such share; null for a stage of one situation.';
comment on column cegdb.stage_stability.max_share_outside is 'Largest share of replicates in which a situation of the stage was together with one of another stage; null if there is none.';
comment on column cegdb.stage_stability.outside is 'Name of that situation of another stage.';
comment on column cegdb.stage_stability.outside_path is 'The answers that lead to it, joined by '' -> ''.';
comment on column cegdb.stage_stability.outside_stage is 'Name of its stage.';
comment on column cegdb.stage_stability.stage_id is 'The stage: the smallest vertex_id in it.';
comment on column cegdb.stage_stability.outside_id is 'vertex_id of that situation.';
