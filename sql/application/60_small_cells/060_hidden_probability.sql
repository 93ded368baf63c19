-- step:    hidden_probability
-- mode:    append temp.hidden_cell
-- purpose: One row that hides all probabilities of a CEG given evidence, if the CEG it was
--          conditioned from has a small count.
-- reads:   position_cell
-- writes:  hidden_cell(kind, owner_id, label_id)
-- params:  min_n INTEGER, counts from 1 to min_n - 1 are small
-- source:  serves output with small counts hidden (min_n)
select distinct
    'given' as kind,
    0 as owner_id,
    null as label_id
from temp.position_cell
where n between 1 and $min_n - 1
