-- step:    stage_estimate
-- mode:    create
-- purpose: Observed share and posterior mean of each label of each stage, in the order of their
--          ids.
-- reads:   stage_answer
-- writes:  stage_estimate(row_index, stage_id, label_id, prior, n, weight, size, share,
--          probability, total, n_labels)
-- params:  none
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          docs/architecture.md, section Tables
with total as (
    select
        stage_id,
        list_sum(list_sort(list(prior))) + cast(sum(size) as double) as mass,
        sum(n) as n,
        sum(weight) as weight,
        count(*) as n_labels
    from temp.stage_answer
    group by stage_id
)

select
    row_number() over (order by a.stage_id, a.label_id) - 1 as row_index,
    a.stage_id,
    a.label_id,
    a.prior,
    a.n,
    a.weight,
    cast(a.size as double) as size,
    coalesce(
        cast(a.weight as double) / nullif(cast(t.weight as double), 0),
        a.n / nullif(t.n, 0)
    ) as share,
    if(t.n_labels = 1, 1, (a.prior + cast(a.size as double)) / t.mass) as probability,
    t.mass as total,
    t.n_labels
from temp.stage_answer as a
inner join total as t on a.stage_id = t.stage_id
