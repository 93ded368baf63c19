-- step:    layer_size
-- mode:    fetch
-- purpose: How many situations there are of each height, the most labels that the stage of
--          one of them has, and how many all have together: as many as edges, if no floret
--          lacks a label of its stage.
-- reads:   staged_situation, label_digit
-- writes:  layer_size(height, n_situations, n_digits, n_labels)
-- params:  none
-- source:  docs/architecture.md, section Scale
select
    s.height,
    count(*) as n_situations,
    max(h.n_digits) as n_digits,
    cast(sum(h.n_digits) as bigint) as n_labels
from temp.staged_situation as s
inner join (
    select
        d.stage_id,
        count(*) as n_digits
    from temp.label_digit as d
    group by d.stage_id
) as h on s.stage_id = h.stage_id
group by s.height
order by s.height
