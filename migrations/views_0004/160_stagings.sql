-- One row a staging with its settings and scores. Those of one number in comparable stand on
-- the same rows and tree with the same prior, weights and smoothing: their scores can be
-- compared.
create view cegdb.stagings as
with told as (
    select
        g.*,
        t.name as tree,
        s.name as survey,
        coalesce(o.superseded_by is not null, false) as is_stale,
        coalesce(
            g.settings ->> '$.score', if(g.method = 'ahc', 'log_marginal_likelihood', null)
        ) as score,
        if(
            json_type(g.settings -> '$.prior') = 'OBJECT',
            'given',
            coalesce(g.settings ->> '$.prior', 'mass')
        ) as prior,
        g.settings ->> '$.prior.sha256' as given_prior,
        coalesce(g.settings ->> '$.structure_prior', 'flat') as structure_prior,
        coalesce(g.settings ->> '$.weighting', '') as weighting,
        coalesce(g.settings ->> '$.deff', '') as deff,
        coalesce(cast(g.settings ->> '$.smoothing' as double), 0) as smoothing
    from cegdb.staging as g
    inner join cegdb.event_tree as t on g.tree_id = t.tree_id
    inner join cegdb.survey as o on t.survey_id = o.survey_id
    inner join cegdb.survey as s on coalesce(o.superseded_by, o.survey_id) = s.survey_id
)

select
    name as staging,
    survey,
    tree,
    dense_rank() over (
        order by tree_id, alpha, prior, given_prior, weighting, deff, smoothing
    ) as comparable,
    method,
    score,
    alpha,
    prior,
    structure_prior,
    smoothing,
    n_hyperstages,
    n_stages,
    df,
    log_marginal_likelihood,
    log_likelihood,
    aic,
    bic,
    is_stale,
    seconds,
    created_at,
    staging_id
from told;
