-- step:    stage_relation
-- mode:    create
-- purpose: Which stages of one staging are contained in which stages of another.
-- reads:   stage_pair, stages, variable
-- writes:  stage_relation(variable, stage_a, relation, stage_b, n_situations_a,
--          n_situations_b, n_shared, stage_id_a, stage_id_b)
-- params:  staging VARCHAR, the name of the staging
--          other_staging VARCHAR, the name of the other staging
-- source:  serves the comparison of stagings (cegdb compare)
select
    q.name as variable,
    a.stage as stage_a,
    case
        when p.n_shared = a.n_situations and p.n_shared = b.n_situations then '='
        when p.n_shared = a.n_situations then '<'
        when p.n_shared = b.n_situations then '>'
        else 'overlap'
    end as relation,
    b.stage as stage_b,
    a.n_situations as n_situations_a,
    b.n_situations as n_situations_b,
    p.n_shared,
    p.stage_id as stage_id_a,
    p.other_id as stage_id_b
from temp.stage_pair as p
inner join cegdb.stages as a on a.staging = $staging and p.stage_id = a.stage_id
inner join cegdb.stages as b on b.staging = $other_staging and p.other_id = b.stage_id
left join cegdb.variable as q on p.variable_id = q.variable_id
