-- step:    stage_estimate
-- mode:    create
-- purpose: Share and posterior mean of each label of each stage, in the order of their ids.
-- reads:   stage_answer
-- writes:  stage_estimate(place, stage_id, label_id, prior, n, weight, share, probability, total,
--          n_labels)
-- params:  none
-- source:  SPEC 6; DESIGN 4 (share: weighted n / total)
with total as (
    select
        stage_id,
        count(*) as n_labels,
        list_sum(list_sort(list(prior))) as prior,
        sum(n) as n,
        sum(weight) as weight
    from temp.stage_answer
    group by stage_id
)

select
    row_number() over (order by a.stage_id, a.label_id) - 1 as place,
    a.stage_id,
    a.label_id,
    a.prior,
    a.n,
    a.weight,
    coalesce(
        cast(a.weight as double) / nullif(cast(t.weight as double), 0),
        a.n / nullif(t.n, 0)
    ) as share,
    if(t.n_labels = 1, 1, (a.prior + a.n) / (t.prior + t.n)) as probability,
    t.prior + t.n as total,
    t.n_labels
from temp.stage_answer as a
inner join total as t on a.stage_id = t.stage_id
