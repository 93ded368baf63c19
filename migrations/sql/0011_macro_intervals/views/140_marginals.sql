create or replace view cegdb.marginals as
select
    each_ceg.name as ceg,
    m.variable,
    m.label,
    m.probability,
    m.low,
    m.high,
    m.n
from cegdb.ceg as each_ceg
cross join
    lateral (
        select
            variable,
            label,
            probability,
            low,
            high,
            n
        from cegdb.marginals(each_ceg.name, skip_mixed := true)
    ) as m;

comment on view cegdb.marginals is 'One row per answer to a variable of a CEG; the probabilities of a variable sum to 1. Variables that share a position with others are left out. The macro of the same name is for one CEG.';
comment on column cegdb.marginals.ceg is 'Name of the CEG.';
comment on column cegdb.marginals.variable is 'Name of the variable.';
comment on column cegdb.marginals.label is 'The answer; ''not applicable'' stands for paths without the variable.';
comment on column cegdb.marginals.probability is 'Probability of the answer, from 0 to 1.';
comment on column cegdb.marginals.low is 'Lower end of the 95 % interval of the probability by the rows alone, whatever the stages are.';
comment on column cegdb.marginals.high is 'Upper end of the 95 % interval of the probability by the rows alone, whatever the stages are.';
comment on column cegdb.marginals.n is 'Number of respondents that the interval rests on.';
