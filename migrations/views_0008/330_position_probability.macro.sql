-- The probability that a person reaches each position of one CEG:
-- select * from cegdb.position_probability('falls'). variable is null in the sink, and where
-- situations of several variables share a position.
create macro cegdb.position_probability(ceg_name) as table
select
    p.position,
    p.stage,
    m.variable,
    m.probability,
    p.position_id
from cegdb.positions as p
inner join cegdb.position_masses(ceg_name) as m on p.position_id = m.position_id
where p.ceg = ceg_name;
