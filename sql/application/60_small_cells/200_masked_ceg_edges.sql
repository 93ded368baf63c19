-- step:    masked_ceg_edges
-- mode:    create
-- purpose: The view ceg_edges for one CEG, without hidden counts and without probabilities
--          computed from one: from the positions of the stage, their edges with that label and
--          those who stopped there. The only edge of a floret keeps its probability, 1. Given
--          evidence, all probabilities are hidden if any count of the CEG it was conditioned
--          from is.
-- reads:   ceg_edges, positions, hidden_cell
-- writes:  masked_ceg_edges(ceg, source, label, target, variable, n, weight, prior,
--          share, probability, low, high, stage_low, stage_high, raw_labels, source_id,
--          target_id, label_id)
-- params:  object_name VARCHAR, the CEG's
-- source:  serves output with small counts hidden (min_n)
with judged as (
    select
        e.*,
        h.owner_id is not null as is_hidden,
        bool_or(h.owner_id is not null)
            over (partition by p.stage_id, e.label_id)
        or bool_or(
            e.source_id in (
                select c.owner_id
                from temp.hidden_cell as c
                where c.kind in ('position', 'stopped')
            )
        ) over (partition by p.stage_id)
        or exists (
            select 1
            from temp.hidden_cell as c
            where c.kind = 'given'
        ) as is_spoilt
    from cegdb.ceg_edges as e
    inner join cegdb.positions as p on e.ceg = p.ceg and e.source_id = p.position_id
    left join temp.hidden_cell as h
        on h.kind = 'edge' and e.source_id = h.owner_id and e.label_id = h.label_id
    where e.ceg = $object_name
)

select
    j.ceg,
    j.source,
    j.label,
    j.target,
    j.variable,
    if(j.is_hidden, null, j.n) as n,
    if(j.is_hidden, null, j.weight) as weight,
    j.prior,
    if(j.is_spoilt and j.probability < 1, null, j.share) as share,
    if(j.is_spoilt and j.probability < 1, null, j.probability) as probability,
    if(j.is_spoilt and j.probability < 1, null, j.low) as low,
    if(j.is_spoilt and j.probability < 1, null, j.high) as high,
    if(j.is_spoilt and j.probability < 1, null, j.stage_low) as stage_low,
    if(j.is_spoilt and j.probability < 1, null, j.stage_high) as stage_high,
    j.raw_labels,
    j.source_id,
    j.target_id,
    j.label_id
from judged as j
