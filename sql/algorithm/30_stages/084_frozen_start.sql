-- step:    frozen_start
-- mode:    fetch
-- purpose: Number of situations that are both frozen and given an initial stage.
-- reads:   given_group
-- writes:  frozen_start(n)
-- params:  none
-- source:  serves stages that learning starts from or leaves alone
select count(*) as n
from temp.given_group as z
inner join temp.given_group as i on z.vertex_id = i.vertex_id
where z.role = 'frozen' and i.role = 'initial'
