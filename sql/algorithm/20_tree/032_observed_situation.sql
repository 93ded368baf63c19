-- step:    observed_situation
-- mode:    fetch
-- purpose: How many situations of one variable have rows that were asked it.
-- reads:   path_row, stopped_prefix
-- writes:  observed_situation(n_situations)
-- params:  divisor BIGINT, what the variable's digit of a path code is multiplied by
--          radix INTEGER, number of its digits
--          previous_radix INTEGER, of the variable before it; 1 if the code starts here
--          structural_code INTEGER, the digit of a cell that does not apply
-- source:  docs/theory.md, section 14 (Structural and sampling zeros)
select count(distinct code // ($divisor * $radix)) as n_situations
from temp.path_row
where
    code >= 0
    and is_included
    and n > 0
    and if(
        $previous_radix > 1,
        (code // ($divisor * $radix)) % $previous_radix > 0,
        code // ($divisor * $radix) not in (
            select s.prefix_id from temp.stopped_prefix as s
        )
    )
    and (code // $divisor) % $radix < $structural_code
