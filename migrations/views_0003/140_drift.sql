-- One row a stage of a staging made anew, and each of its former stages: what became of its
-- probabilities. label = the answer whose probability moved most; difference = after - before;
-- is_apart = whether the 95 % intervals before and after of some answer have nothing in common.
create view cegdb.drift as
select
    g.name as staging,
    d.was,
    s.stage,
    d.variable,
    d.n_situations,
    d.n_before,
    d.n_after,
    d.label,
    d.probability_before,
    d.low_before,
    d.high_before,
    d.probability_after,
    d.low_after,
    d.high_after,
    d.probability_after - d.probability_before as difference,
    d.is_apart,
    d.stage_id
from cegdb.stage_drift as d
inner join cegdb.staging as g on d.staging_id = g.staging_id
left join cegdb.stages as s on g.name = s.staging and d.stage_id = s.stage_id;
