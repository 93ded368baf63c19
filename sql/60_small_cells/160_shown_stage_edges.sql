-- step:     shown_stage_edges
-- mode:     create
-- purpose:  The view stage_edges of one staging without hidden counts, nor what is calculated
--           from one: a probability from the answer, its stage and those who gave none.
-- reads:    stage_edges, hidden_cell
-- writes:   shown_stage_edges(staging, stage, variable, label, prior, n, weight, share,
--           probability, low, high, stage_id, label_id)
-- params:   object_name VARCHAR, the staging's
-- source:   none
with judged as (
    select
        e.*,
        h.owner_id is not null as is_hidden,
        h.owner_id is not null or e.stage_id in (
            select c.owner_id
            from temp.hidden_cell as c
            where c.kind in ('stage', 'stopped')
        ) as is_spoilt
    from cegdb.stage_edges as e
    left join temp.hidden_cell as h
        on h.kind = 'answer' and e.stage_id = h.owner_id and e.label_id = h.label_id
    where e.staging = $object_name
)

select
    j.staging,
    j.stage,
    j.variable,
    j.label,
    j.prior,
    if(j.is_hidden, null, j.n) as n,
    if(j.is_hidden, null, j.weight) as weight,
    if(j.is_spoilt, null, j.share) as share,
    if(j.is_spoilt and j.probability < 1, null, j.probability) as probability,
    if(j.is_spoilt, null, j.low) as low,
    if(j.is_spoilt, null, j.high) as high,
    j.stage_id,
    j.label_id
from judged as j
