-- step:     shown_stages
-- mode:     create
-- purpose:  The view stages of one staging without hidden counts.
-- reads:    stages, hidden_cell
-- writes:   shown_stages(staging, stage, variable, labels, n_situations, n, kind, colour,
--           stage_id, hyperstage_id)
-- params:   object_name VARCHAR, the staging's
-- source:   none
select
    s.staging,
    s.stage,
    s.variable,
    s.labels,
    s.n_situations,
    if(h.owner_id is null, s.n, null) as n,
    s.kind,
    s.colour,
    s.stage_id,
    s.hyperstage_id
from cegdb.stages as s
left join temp.hidden_cell as h on h.kind = 'stage' and s.stage_id = h.owner_id
where s.staging = $object_name
