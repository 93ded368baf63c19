-- step:    staging_pair
-- mode:    append cegdb.situation_pair
-- purpose: How often each pair of situations shared a stage when the stages were learnt again,
--          and whether they share one in the staging.
-- reads:   counted_pair, stage_member
-- writes:  situation_pair(staging_id, kind, vertex_id, other_id, is_together, n_runs,
--          n_together)
-- params:  staging_id INTEGER, the staging
--          kind VARCHAR, 'nonparametric' or 'parametric'
-- source:  Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering
select
    $staging_id as staging_id,
    $kind as kind,
    p.vertex_id,
    p.other_id,
    m.stage_id = o.stage_id as is_together,
    p.n_runs,
    p.n_together
from temp.counted_pair as p
inner join cegdb.stage_member as m
    on m.staging_id = $staging_id and p.vertex_id = m.vertex_id
inner join cegdb.stage_member as o
    on o.staging_id = $staging_id and p.other_id = o.vertex_id
order by p.vertex_id, p.other_id
