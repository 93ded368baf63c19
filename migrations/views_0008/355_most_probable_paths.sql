-- One row a path of a CEG, of its 10 most probable ones (rank 1 to 10). The macro of the same
-- name is for one CEG and any number of paths.
create view cegdb.most_probable_paths as
select
    each_ceg.name as ceg,
    p.rank,
    p.path,
    p.labels,
    p.variables,
    p.probability
from cegdb.ceg as each_ceg
cross join
    lateral (
        select
            rank,
            path,
            labels,
            variables,
            probability
        from cegdb.most_probable_paths(each_ceg.name, 10)
    ) as p;
