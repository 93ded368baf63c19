-- step:    stage_answer
-- mode:    create
-- purpose: Prior mass, count, weight and size (the count, or the effective count with weights
--          or a design effect) of each label of each stage. The prior of a stage is the sum of
--          those of its situations, or, by stage, that of any of them. Priors are added in
--          sorted order, equal ones as one product, so that neither row order nor threads
--          change the sum.
-- reads:   situation_stage, edge_prior, situation_edge, edge_size
-- writes:  stage_answer(stage_id, label_id, prior, n, weight, size)
-- params:  is_by_stage BOOLEAN, whether each stage has one prior, of however many situations
-- source:  docs/theory.md, section 6 (Scores and clustering)
with shared as (
    select
        s.stage_id,
        e.label_id,
        a.prior,
        count(*) as n_members,
        sum(e.n) as n,
        sum(e.weight) as weight,
        sum(z.size) as size
    from temp.situation_stage as s
    inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
    inner join temp.edge_prior as a on e.child_id = a.child_id
    left join temp.edge_size as z on e.child_id = z.child_id
    group by s.stage_id, e.label_id, a.prior
)

select
    stage_id,
    label_id,
    if(
        $is_by_stage, max(prior), list_sum(list_sort(list(n_members * prior)))
    ) as prior,
    cast(sum(n) as bigint) as n,
    sum(weight) as weight,
    cast(coalesce(sum(size), sum(n)) as decimal(38, 12)) as size
from shared
group by stage_id, label_id
