-- step:    report_interval
-- mode:    create
-- purpose: Intervals of the probabilities of a staging, with names. A single edge has one if
--          other answers were left out because nobody gave them and the method is "robust".
-- reads:   stage_estimate, stage_interval, left_out_answer, stage_edges
-- writes:  report_interval(row_index, staging, stage, situation, path, variable, label, n,
--          weight, share, probability, low, high, method, level, given)
-- params:  staging VARCHAR, its name
--          method VARCHAR, what the intervals are
--          level DOUBLE, of the intervals
--          given VARCHAR, on what they are conditional
-- source:  docs/theory.md, section 14 (Structural and sampling zeros);
--          docs/theory.md, section 17 (Uncertainty of answers); serves the table of intervals
select
    i.row_index,
    s.staging,
    s.stage,
    cast(null as varchar) as situation,
    cast(null as varchar) as path,
    s.variable,
    s.label,
    s.n,
    cast(s.weight as double) as weight,
    s.share,
    s.probability,
    case
        when e.n_labels > 1 and i.low <= 1 then i.low
        when o.stage_id is not null and $method = 'robust'
            then pow(round(1 - $level, 12), 1 / e.size)
    end as low,
    case
        when e.n_labels > 1 and i.low <= 1 then i.high
        when o.stage_id is not null and $method = 'robust' then 1
    end as high,
    $method as method,
    $level as level,
    $given as given
from temp.stage_estimate as e
inner join temp.stage_interval as i on e.row_index = i.row_index
inner join cegdb.stage_edges as s
    on s.staging = $staging and e.stage_id = s.stage_id and e.label_id = s.label_id
left join temp.left_out_answer as o on e.stage_id = o.stage_id
