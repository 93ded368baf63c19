-- step:    masked_staged_edges
-- mode:    create
-- purpose: The view staged_edges for one staging, without hidden counts and without
--          probabilities computed from one: from the situations of the stage, their edges with
--          that label and those who stopped there. The only edge of a floret keeps its
--          probability, 1.
-- reads:   staged_edges, hidden_cell
-- writes:  masked_staged_edges(staging, source, label, target, variable, n, weight,
--          share, probability, low, high, stage_low, stage_high, stage_id, parent_id,
--          child_id, label_id)
-- params:  object_name VARCHAR, the staging's
-- source:  serves output with small counts hidden (min_n)
with judged as (
    select
        e.*,
        h.owner_id is not null as is_hidden,
        bool_or(h.owner_id is not null)
            over (partition by e.stage_id, e.label_id)
        or bool_or(
            e.parent_id in (
                select c.owner_id
                from temp.hidden_cell as c
            )
        ) over (partition by e.stage_id) as is_spoilt
    from cegdb.staged_edges as e
    left join temp.hidden_cell as h on h.kind = 'vertex' and e.child_id = h.owner_id
    where e.staging = $object_name
)

select
    j.staging,
    j.source,
    j.label,
    j.target,
    j.variable,
    if(j.is_hidden, null, j.n) as n,
    if(j.is_hidden, null, j.weight) as weight,
    if(j.is_spoilt and j.probability < 1, null, j.share) as share,
    if(j.is_spoilt and j.probability < 1, null, j.probability) as probability,
    if(j.is_spoilt and j.probability < 1, null, j.low) as low,
    if(j.is_spoilt and j.probability < 1, null, j.high) as high,
    if(j.is_spoilt and j.probability < 1, null, j.stage_low) as stage_low,
    if(j.is_spoilt and j.probability < 1, null, j.stage_high) as stage_high,
    j.stage_id,
    j.parent_id,
    j.child_id,
    j.label_id
from judged as j
