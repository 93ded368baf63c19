-- step:    weight_range
-- mode:    fetch
-- purpose: The smallest and the largest weight above 0, before weights are scaled.
-- reads:   parsed_line
-- writes:  weight_range(smallest, largest)
-- params:  none
-- source:  serves ingest
select
    min(weight_size) as smallest,
    max(weight_size) as largest
from temp.parsed_line
where weight_size > 0
