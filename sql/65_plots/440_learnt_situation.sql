-- step:    learnt_situation
-- mode:    create
-- purpose: The situations in learnt stages of a staging.
-- reads:   stage_member, stage
-- writes:  learnt_situation(vertex_id)
-- params:  staging_id INTEGER, the staging
-- source:  serves the plots of merges and the dendrogram (cegdb plot)
select m.vertex_id
from cegdb.stage_member as m
inner join cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id
where m.staging_id = $staging_id and s.kind = 'learnt'
