-- One row a label of a variable of a CEG, with its probability. Paths without the variable
-- answer 'not applicable', a row where there are such paths; the probabilities of a variable
-- sum to 1. Variables that share a position with others are left out. The macro of the same
-- name is for one CEG.
create view cegdb.marginals as
select
    each_ceg.name as ceg,
    m.variable,
    m.label,
    m.probability
from cegdb.ceg as each_ceg
cross join
    lateral (
        select
            variable,
            label,
            probability
        from cegdb.marginals(each_ceg.name, skip_mixed := true)
    ) as m;
