-- step:    stage_estimate
-- mode:    create
-- purpose: Share and posterior mean of each label of each stage, in the order of their ids.
-- reads:   stage_answer
-- writes:  stage_estimate(place, stage_id, label_id, prior, n, weight, size, share, probability,
--          total, n_labels)
-- params:  none
-- source:  SPEC 6; DESIGN 4 (share: weighted n / total)
with total as (
    select
        *,
        list_sum(list_sort(list(prior) over by_stage))
        + cast(sum(size) over by_stage as double) as total,
        sum(n) over by_stage as total_n,
        sum(weight) over by_stage as total_weight,
        count(*) over by_stage as n_labels
    from temp.stage_answer
    window by_stage as (partition by stage_id)
)

select
    row_number() over (order by t.stage_id, t.label_id) - 1 as place,
    t.stage_id,
    t.label_id,
    t.prior,
    t.n,
    t.weight,
    cast(t.size as double) as size,
    coalesce(
        cast(t.weight as double) / nullif(cast(t.total_weight as double), 0),
        t.n / nullif(t.total_n, 0)
    ) as share,
    if(t.n_labels = 1, 1, (t.prior + cast(t.size as double)) / t.total) as probability,
    t.total,
    t.n_labels
from total as t
