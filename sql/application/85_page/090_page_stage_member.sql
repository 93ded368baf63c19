-- step:    page_stage_member
-- mode:    fetch
-- purpose: The situations of a staging, with their stage and its kind.
-- reads:   stage_member, stage
-- writes:  page_stage_member(vertex_id, stage_id, kind)
-- params:  staging_id INTEGER, the staging
-- source:  serves the page of a CEG: its merge log
select
    m.vertex_id,
    m.stage_id,
    s.kind
from cegdb.stage_member as m
inner join cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id
where m.staging_id = $staging_id
order by m.vertex_id
