-- step:    compared_staging
-- mode:    create
-- purpose: Stagings side by side, with their scores and the log Bayes factor of each against
--          the first staging chosen (rank 1) or, if none was chosen (rank 0), against the best
--          of those it can be compared with. Null where scores cannot be compared.
-- reads:   chosen_staging, stagings
-- writes:  compared_staging(rank, staging, tree, method, score, alpha, n_stages, df,
--          log_likelihood, log_marginal_likelihood, aic, bic, log_bayes_factor, comparable_group,
--          is_best, is_stale, staging_id)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering), Bayes factors;
--          serves the comparison of stagings (cegdb compare)
with chosen as (
    select
        a.rank,
        s.*
    from temp.chosen_staging as a
    inner join cegdb.stagings as s on a.staging_id = s.staging_id
),

best as (
    select
        comparable_group,
        max(log_marginal_likelihood) as log_marginal_likelihood
    from chosen
    group by comparable_group
),

reference as (
    select
        b.comparable_group,
        coalesce(t.log_marginal_likelihood, b.log_marginal_likelihood)
            as log_marginal_likelihood
    from best as b
    left join chosen as t on b.comparable_group = t.comparable_group and t.rank = 1
    where t.rank = 1 or not exists (select 1 from chosen as f where f.rank = 1)
)

select
    t.rank,
    t.staging,
    t.tree,
    t.method,
    if(t.method = 'given', null, t.score) as score,
    t.alpha,
    t.n_stages,
    t.df,
    t.log_likelihood,
    t.log_marginal_likelihood,
    t.aic,
    t.bic,
    t.log_marginal_likelihood - r.log_marginal_likelihood as log_bayes_factor,
    t.comparable_group,
    t.log_marginal_likelihood >= b.log_marginal_likelihood - 1e-9 as is_best,
    t.is_stale,
    t.staging_id
from chosen as t
inner join best as b on t.comparable_group = b.comparable_group
left join reference as r on t.comparable_group = r.comparable_group
