-- step:    gate_decision
-- mode:    fetch
-- purpose: Number of rows that the decisions of gate_floret affect, by decision and by whether
--          a later question was answered.
-- reads:   path_row, gate_floret
-- writes:  gate_decision(is_blank, is_structural, is_followed, n)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          n_values INTEGER, digits 1 .. n_values are values
--          blank_code INTEGER, the digit of a blank cell
--          variable_index INTEGER, its index in the order, from 1
-- source:  docs/architecture.md, section Cells;
--          docs/theory.md, section 1 (Event trees from data)
select
    (p.code // $divisor) % $radix = $blank_code as is_blank,
    g.missing_structural
    or ((p.code // $divisor) % $radix = $blank_code and g.blank_structural) as is_structural,
    p.last_answer > $variable_index as is_followed,
    sum(p.n) as n
from temp.path_row as p
inner join temp.gate_floret as g on p.code // ($divisor * $radix) = g.prefix
where
    p.code >= 0
    and (p.code // $divisor) % $radix > $n_values
    and (p.code // $divisor) % $radix <= $blank_code
group by 1, 2, 3
order by 1, 2, 3
