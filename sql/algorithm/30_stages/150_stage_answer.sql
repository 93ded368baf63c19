-- step:    stage_answer
-- mode:    create
-- purpose: Prior mass, count, weight and size (the count, or the effective count with weights
--          or a design effect) of each label of each stage. The prior of a stage is the sum of
--          those of its situations, or, by stage, that of any of them; that of a stage nobody
--          reached may be predicted. Priors are added in
--          sorted order, equal ones as one product, so that neither row order nor threads
--          change the sum.
-- reads:   situation_stage, edge_prior, situation_edge, edge_size, predictive_prior
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
    s.stage_id,
    s.label_id,
    coalesce(
        max(p.prior),
        if($is_by_stage, max(s.prior), list_sum(list_sort(list(s.n_members * s.prior))))
    ) as prior,
    cast(sum(s.n) as bigint) as n,
    sum(s.weight) as weight,
    cast(coalesce(sum(s.size), sum(s.n)) as decimal(38, 12)) as size
from shared as s
left join temp.predictive_prior as p on s.stage_id = p.stage_id and s.label_id = p.label_id
group by s.stage_id, s.label_id
