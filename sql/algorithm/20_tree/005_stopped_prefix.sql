-- step:    stopped_prefix
-- mode:    create
-- purpose: The paths so far whose rows stopped, so that nothing follows in the next group of
--          variables.
-- reads:   path_prefix
-- writes:  stopped_prefix(prefix_id)
-- params:  chunk INTEGER, the group of variables that ends here
--          radix INTEGER, number of digits of its last variable
-- source:  docs/architecture.md, section Scale
select prefix_id
from temp.path_prefix
where chunk = $chunk and code % $radix = 0
