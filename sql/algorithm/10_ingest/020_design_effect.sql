-- step:    design_effect
-- mode:    fetch
-- purpose: The variance of a variable's shares between the clusters of a sample (linearised),
--          and the variance for the same number of respondents sampled independently, each
--          summed over the variable's values. Terms are added in sorted order, so that row
--          order does not matter.
-- reads:   clustered_answer
-- writes:  design_effect(n_clusters, between_clusters, within_sample)
-- params:  none
-- source:  serves ingest: scores are divided by the design effect of a variable.
with cell as (
    select
        cluster,
        code,
        cast(sum(coalesce(weight, n)) as double) as w,
        cast(sum(coalesce(weight_sq, n)) as double) as w_sq
    from temp.clustered_answer
    group by cluster, code
),

total as (
    select
        list_sum(list_sort(list(w))) as w,
        list_sum(list_sort(list(w_sq))) as w_sq
    from cell
),

share as (
    select
        code,
        list_sum(list_sort(list(w))) / (select w from total) as p
    from cell
    group by code
),

cluster_total as (
    select
        cluster,
        list_sum(list_sort(list(w))) as w
    from cell
    group by cluster
),

residual as (
    select
        s.code,
        coalesce(e.w, 0) - s.p * c.w as r
    from share as s
    cross join cluster_total as c
    left join cell as e on s.code = e.code and c.cluster = e.cluster
)

select
    (select count(*) from cluster_total) as n_clusters,
    (select list_sum(list_sort(list(r * r))) from residual) as between_clusters,
    (select list_sum(list_sort(list(p * (1 - p)))) from share)
    * (select w_sq from total) as within_sample
