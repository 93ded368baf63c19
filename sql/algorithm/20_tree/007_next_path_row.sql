-- step:    next_path_row
-- mode:    create
-- purpose: The path codes of the rows at the start of the next group of variables: the id of
--          the path so far, then the digits of this group. Rows that stopped before have digits
--          0.
-- reads:   path_row, path_prefix, group_code
-- writes:  next_path_row(row_id, code, n, weight, weight_sq, last_answer, is_included)
-- params:  chunk INTEGER, the group of variables that ended
--          radix INTEGER, number of digits of its last variable
--          size BIGINT, number of codes of the next group
-- source:  docs/architecture.md, section Scale
select
    p.row_id,
    h.prefix_id * $size + if(p.code % $radix = 0, 0, coalesce(g.code, 0)) as code,
    p.n,
    p.weight,
    p.weight_sq,
    p.last_answer,
    p.is_included
from temp.path_row as p
inner join temp.path_prefix as h on p.code = h.code and h.chunk = $chunk
left join temp.group_code as g on p.row_id = g.row_id
