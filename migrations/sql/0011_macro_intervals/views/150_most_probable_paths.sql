create or replace view cegdb.most_probable_paths as
select
    each_ceg.name as ceg,
    p.rank,
    p.path,
    p.labels,
    p.variables,
    p.probability,
    p.low,
    p.high,
    p.n
from cegdb.ceg as each_ceg
cross join
    lateral (
        select
            rank,
            path,
            labels,
            variables,
            probability,
            low,
            high,
            n
        from cegdb.most_probable_paths(each_ceg.name, 10)
    ) as p;

comment on view cegdb.most_probable_paths is 'One row per path from the root to the sink: the 10 most probable ones of each CEG. The macro of the same name takes one CEG and any number of paths.';
comment on column cegdb.most_probable_paths.ceg is 'Name of the CEG.';
comment on column cegdb.most_probable_paths.rank is 'Rank of the path, from 1 (the most probable) to 10.';
comment on column cegdb.most_probable_paths.path is 'The answers along the path, joined by '' -> ''.';
comment on column cegdb.most_probable_paths.labels is 'The answers along the path, as a list.';
comment on column cegdb.most_probable_paths.variables is 'The variable of each answer; null at a position that has several.';
comment on column cegdb.most_probable_paths.probability is 'Probability of the path, from 0 to 1.';
comment on column cegdb.most_probable_paths.low is 'Lower end of the 95 % interval of the probability by the rows alone, whatever the stages are.';
comment on column cegdb.most_probable_paths.high is 'Upper end of the 95 % interval of the probability by the rows alone, whatever the stages are.';
comment on column cegdb.most_probable_paths.n is 'Number of respondents that the interval rests on.';
