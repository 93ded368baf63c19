-- step:    gate_history
-- mode:    fetch
-- purpose: The histories after which blank or missing cells of one variable were decided, those
--          with most rows first.
-- reads:   path_row, gate_floret
-- writes:  gate_history(prefix, is_structural, n_rows, n_decided, n_histories)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          n_values INTEGER, digits 1 .. n_values are values
--          blank_code INTEGER, the digit of a blank cell
--          most INTEGER, how many histories to return
-- source:  docs/architecture.md, section Cells;
--          docs/theory.md, section 1 (Event trees from data)
with cell as (
    select
        g.prefix,
        g.n as n_rows,
        g.missing_structural
        or ((p.code // $divisor) % $radix = $blank_code and g.blank_structural)
            as is_structural,
        p.n
    from temp.path_row as p
    inner join temp.gate_floret as g on p.code // ($divisor * $radix) = g.prefix
    where
        p.code >= 0
        and p.n > 0
        and (p.code // $divisor) % $radix > $n_values
        and (p.code // $divisor) % $radix <= $blank_code
)

select
    prefix,
    is_structural,
    n_rows,
    sum(n) as n_decided,
    count(*) over () as n_histories
from cell
group by prefix, is_structural, n_rows
order by n_decided desc, prefix asc, is_structural asc
limit $most
