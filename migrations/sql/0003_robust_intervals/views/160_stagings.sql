create or replace view cegdb.stagings as
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
        g.settings ->> '$.criterion' as criterion,
        cast(g.settings ->> '$.significance' as double) as significance,
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
    ) as comparable_group,
    method,
    score,
    alpha,
    prior,
    structure_prior,
    criterion,
    significance,
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

comment on view cegdb.stagings is 'One row per staged tree, with its settings and scores.';
comment on column cegdb.stagings.staging is 'Name of the staged tree.';
comment on column cegdb.stagings.survey is 'Name of the survey of its tree.';
comment on column cegdb.stagings.tree is 'Name of the event tree.';
comment on column cegdb.stagings.comparable_group is 'Number of the group within which scores can be compared: the same rows, tree, prior, weighting and smoothing.';
comment on column cegdb.stagings.method is 'How the stages were found: given, or the name of the learning method.';
comment on column cegdb.stagings.score is 'The score that learning improved, such as log_marginal_likelihood; null if there was none.';
comment on column cegdb.stagings.alpha is 'Prior mass at the root (equivalent sample size), or of each stage if prior is stage; above 0.';
comment on column cegdb.stagings.prior is 'How alpha is shared out: mass, floret or path, or stage if each stage has it; given if the user gave the prior masses.';
comment on column cegdb.stagings.structure_prior is 'Prior over the stagings themselves; flat if all are alike.';
comment on column cegdb.stagings.criterion is 'What decided which situations share a stage: score or test; null for other methods.';
comment on column cegdb.stagings.significance is 'Level of the tests that decided it, from 0 to 1; null without tests.';
comment on column cegdb.stagings.smoothing is 'Mass added to each count for the probabilities only; 0 for none.';
comment on column cegdb.stagings.n_hyperstages is 'Number of hyperstages.';
comment on column cegdb.stagings.n_stages is 'Number of stages.';
comment on column cegdb.stagings.df is 'Number of free parameters: labels less one, over the stages that have answers.';
comment on column cegdb.stagings.log_marginal_likelihood is 'Log marginal likelihood (natural logarithm).';
comment on column cegdb.stagings.log_likelihood is 'Log likelihood at its maximum (natural logarithm).';
comment on column cegdb.stagings.aic is 'Akaike information criterion; smaller is better.';
comment on column cegdb.stagings.bic is 'Bayesian information criterion; smaller is better.';
comment on column cegdb.stagings.is_stale is 'Whether its survey has changed since it was made.';
comment on column cegdb.stagings.seconds is 'Time it took to make, in seconds.';
comment on column cegdb.stagings.created_at is 'When it was made (UTC).';
comment on column cegdb.stagings.staging_id is 'The staged tree; joins to staging.';
