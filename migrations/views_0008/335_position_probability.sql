-- One row a position of a CEG: the probability that a person reaches it. The macro of the same
-- name is for one CEG.
create view cegdb.position_probability as
select
    p.ceg,
    p.position,
    p.stage,
    m.variable,
    m.probability,
    p.position_id
from cegdb.positions as p
inner join (
    select
        each_ceg.name as ceg,
        w.position_id,
        w.variable,
        w.probability
    from cegdb.ceg as each_ceg
    cross join
        lateral (
            select
                position_id,
                variable,
                probability
            from cegdb.position_masses(each_ceg.name)
        ) as w
) as m on p.ceg = m.ceg and p.position_id = m.position_id;
