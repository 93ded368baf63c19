-- step:    stage_answer
-- mode:    create
-- purpose: Prior mass, rows, weight and size (rows, unless weights or a design effect make
--          them worth another number) of each label of each stage. Masses are added in
--          sorted order, situations of equal mass as one product, so that the sum is the
--          same for any order of rows and any number of threads.
-- reads:   situation_stage, floret_mass, situation_edge, edge_size
-- writes:  stage_answer(stage_id, label_id, prior, n, weight, size)
-- params:  alpha DOUBLE, prior mass of the root
-- source:  SPEC 6
with shared as (
    select
        s.stage_id,
        e.label_id,
        m.n_shares,
        count(*) as n_members,
        sum(e.n) as n,
        sum(e.weight) as weight,
        sum(z.size) as size
    from temp.situation_stage as s
    inner join temp.floret_mass as m on s.vertex_id = m.vertex_id
    inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
    left join temp.edge_size as z on e.child_id = z.child_id
    group by s.stage_id, e.label_id, m.n_shares
)

select
    stage_id,
    label_id,
    list_sum(list_sort(list(n_members * $alpha / n_shares))) as prior,
    cast(sum(n) as bigint) as n,
    sum(weight) as weight,
    cast(coalesce(sum(size), sum(n)) as decimal(38, 12)) as size
from shared
group by stage_id, label_id
