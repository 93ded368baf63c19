-- step:    layer_size
-- mode:    fetch
-- purpose: Number of situations of each height, the largest number of labels of any of their
--          stages, and the total number of labels. That total equals the number of edges if no
--          floret lacks a label of its stage.
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
