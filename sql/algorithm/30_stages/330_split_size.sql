-- step:    split_size
-- mode:    fetch
-- purpose: Number of parts named for a stage, number of its situations in a part, and number of
--          its situations.
-- reads:   stage_member, changed_member
-- writes:  split_size(n_parts, n_named, n_situations)
-- params:  staging_id INTEGER, the staging
--          stage_id BIGINT, the stage to split
-- source:  serves joining, splitting and renaming stages by hand
select
    count(distinct c.name) as n_parts,
    count(c.name) as n_named,
    count(*) as n_situations
from cegdb.stage_member as m
left join temp.changed_member as c on m.vertex_id = c.vertex_id
where m.staging_id = $staging_id and m.stage_id = $stage_id
