create view cegdb.drift as
select
    g.name as staging,
    d.former_stage,
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
    d.is_disjoint,
    d.stage_id
from cegdb.stage_drift as d
inner join cegdb.staging as g on d.staging_id = g.staging_id
left join cegdb.stages as s on g.name = s.staging and d.stage_id = s.stage_id;

comment on view cegdb.drift is 'One row per stage of a staging that was made again and each former stage of its situations: how its probabilities changed.';
comment on column cegdb.drift.staging is 'Name of the staged tree.';
comment on column cegdb.drift.former_stage is 'Name of the former stage, u0, u1, ...; null if the situations are new.';
comment on column cegdb.drift.stage is 'Name of the present stage, u0, u1, ...; null if the situations are gone.';
comment on column cegdb.drift.variable is 'The variable of the stage; null if it has several.';
comment on column cegdb.drift.n_situations is 'Number of situations that both stages have in common, or that are new or gone.';
comment on column cegdb.drift.n_before is 'Number of respondents who reached these situations before.';
comment on column cegdb.drift.n_after is 'Number of respondents who reach them now.';
comment on column cegdb.drift.label is 'The answer whose probability changed most; null if the situations are new or gone.';
comment on column cegdb.drift.probability_before is 'Posterior mean of that answer before.';
comment on column cegdb.drift.low_before is 'Lower end of its 95 % credible interval before.';
comment on column cegdb.drift.high_before is 'Upper end of its 95 % credible interval before.';
comment on column cegdb.drift.probability_after is 'Posterior mean of that answer now.';
comment on column cegdb.drift.low_after is 'Lower end of its 95 % credible interval now.';
comment on column cegdb.drift.high_after is 'Upper end of its 95 % credible interval now.';
comment on column cegdb.drift.difference is 'probability_after - probability_before.';
comment on column cegdb.drift.is_disjoint is 'Whether the 95 % intervals of some answer before and now do not overlap; null if they cannot be compared.';
comment on column cegdb.drift.stage_id is 'The present stage; null if the situations are gone.';
