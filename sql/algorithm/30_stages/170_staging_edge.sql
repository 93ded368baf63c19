-- step:    staging_edge
-- mode:    append cegdb.stage_edge
-- purpose: The probability vector of each stage, with 95 % intervals. That of a single edge is
--          what its rows leave open to answers that were left out because nobody gave them.
-- reads:   stage_estimate, stage_interval, left_out_answer
-- writes:  stage_edge(staging_id, stage_id, label_id, prior, n, weight, share, probability,
--          low, high)
-- params:  staging_id INTEGER, the staging
-- source:  docs/theory.md, section 6 (Scores and clustering);
--          docs/theory.md, section 14 (Structural and sampling zeros);
--          docs/theory.md, section 17 (Uncertainty of answers)
select
    $staging_id as staging_id,
    e.stage_id,
    e.label_id,
    e.prior,
    e.n,
    e.weight,
    e.share,
    e.probability,
    case
        when e.n_labels > 1 then i.low
        when o.stage_id is not null then pow(0.05, 1 / e.size)
    end as low,
    case
        when e.n_labels > 1 then i.high
        when o.stage_id is not null then 1
    end as high
from temp.stage_estimate as e
inner join temp.stage_interval as i on e.row_index = i.row_index
left join temp.left_out_answer as o on e.stage_id = o.stage_id
order by e.row_index
