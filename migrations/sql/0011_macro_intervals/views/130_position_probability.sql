create or replace view cegdb.position_probability as
select
    each_ceg.name as ceg,
    p.position,
    p.stage,
    p.variable,
    p.probability,
    p.low,
    p.high,
    p.n,
    p.position_id
from cegdb.ceg as each_ceg
cross join
    lateral (
        select
            position,
            stage,
            variable,
            probability,
            low,
            high,
            n,
            position_id
        from cegdb.position_probability(each_ceg.name)
    ) as p;

comment on view cegdb.position_probability is 'One row per position of a CEG: the probability of reaching it. The macro of the same name is for one CEG.';
comment on column cegdb.position_probability.ceg is 'Name of the CEG.';
comment on column cegdb.position_probability.position is 'Name of the position: w0, w1, ...; w_inf is the sink.';
comment on column cegdb.position_probability.stage is 'Name of its stage, u0, u1, ...; null for the sink.';
comment on column cegdb.position_probability.variable is 'The variable of the position; null for the sink, or if it has several.';
comment on column cegdb.position_probability.probability is 'Probability of reaching the position, from 0 to 1.';
comment on column cegdb.position_probability.position_id is 'The position: the smallest vertex_id in it.';
comment on column cegdb.position_probability.low is 'Lower end of the 95 % interval of the probability by the rows alone, whatever the stages are.';
comment on column cegdb.position_probability.high is 'Upper end of the 95 % interval of the probability by the rows alone, whatever the stages are.';
comment on column cegdb.position_probability.n is 'Number of respondents that the interval rests on.';
