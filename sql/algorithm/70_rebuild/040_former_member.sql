-- step:    former_member
-- mode:    create
-- purpose: The members of the stages of a staging to rebuild.
-- reads:   stage_member, former_vertex
-- writes:  former_member(vertex_id, stage_id, variable, n)
-- params:  staging_id INTEGER, the staging
-- source:  serves making stale objects again after new rows (cegdb rebuild)
select
    m.vertex_id,
    m.stage_id,
    v.variable,
    v.n
from cegdb.stage_member as m
inner join temp.former_vertex as v on m.vertex_id = v.vertex_id
where m.staging_id = $staging_id
