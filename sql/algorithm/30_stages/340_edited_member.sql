-- step:    edited_member
-- mode:    create
-- purpose: The situations of a staging with their stage after an edit, and its given name.
--          Situations with a single edge that the edit does not change are not named.
-- reads:   stage, stage_member, changed_member
-- writes:  edited_member(vertex_id, name, shown_name)
-- params:  staging_id INTEGER, the staging
-- source:  serves joining, splitting and renaming stages by hand
select
    m.vertex_id,
    coalesce(c.name, cast(m.stage_id as varchar)) as name,
    if(c.vertex_id is null, s.name, c.shown_name) as shown_name
from cegdb.stage_member as m
inner join cegdb.stage as s on m.staging_id = s.staging_id and m.stage_id = s.stage_id
left join temp.changed_member as c on m.vertex_id = c.vertex_id
where m.staging_id = $staging_id and (c.vertex_id is not null or s.kind <> 'single_edge')
