-- One row a position of a CEG: the probability that a person reaches it. The macro of the same
-- name is for one CEG.
create view cegdb.position_probability as
select
    each_ceg.name as ceg,
    p.position,
    p.stage,
    p.variable,
    p.probability,
    p.position_id
from cegdb.ceg as each_ceg
cross join
    lateral (
        select
            position,
            stage,
            variable,
            probability,
            position_id
        from cegdb.position_probability(each_ceg.name)
    ) as p;
