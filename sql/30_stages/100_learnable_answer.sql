-- step:    learnable_answer
-- mode:    create
-- purpose: The contents of the stages that learning starts from: rows by label, and how many
--          situations have each share of the prior mass.
-- reads:   learnable, situation_edge, edge_size
-- writes:  learnable_answer(hyperstage_id, stage_id, label_id, n_shares, n_members, n, size)
-- params:  none
-- source:  SPEC 6
select
    s.hyperstage_id,
    s.stage_id,
    e.label_id,
    s.n_shares,
    count(*) as n_members,
    cast(sum(e.n) as bigint) as n,
    cast(sum(z.size) as double) as size
from temp.learnable as s
inner join temp.situation_edge as e on s.vertex_id = e.vertex_id
left join temp.edge_size as z on e.child_id = z.child_id
group by s.hyperstage_id, s.stage_id, e.label_id, s.n_shares
order by s.hyperstage_id, s.stage_id, e.label_id, s.n_shares
