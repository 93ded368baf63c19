-- step:    check_parent
-- mode:    fetch
-- purpose: Objects whose parent no longer exists, and levels without a variable.
-- reads:   survey, variable, level, event_tree, staging, ceg
-- writes:  check_parent(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Tables: references are checked, not declared
select
    'an object is built on one that exists' as invariant,
    'tree' as kind,
    t.name,
    cast(null as bigint) as row_id,
    concat('survey ', t.survey_id, ' is gone') as detail
from cegdb.event_tree as t
left join cegdb.survey as s on t.survey_id = s.survey_id
where s.survey_id is null
union all
select
    'superseded rows have a survey that superseded them' as invariant,
    'survey' as kind,
    o.name,
    cast(null as bigint) as row_id,
    concat('survey ', o.superseded_by, ' is gone') as detail
from cegdb.survey as o
left join cegdb.survey as s on o.superseded_by = s.survey_id and s.superseded_by is null
where o.superseded_by is not null and s.survey_id is null
union all
select
    'an object is built on one that exists' as invariant,
    'staging' as kind,
    g.name,
    cast(null as bigint) as row_id,
    concat('tree ', g.tree_id, ' is gone') as detail
from cegdb.staging as g
left join cegdb.event_tree as t on g.tree_id = t.tree_id
where t.tree_id is null
union all
select
    'an object is built on one that exists' as invariant,
    'ceg' as kind,
    c.name,
    cast(null as bigint) as row_id,
    concat(
        'staging ', coalesce(cast(c.staging_id as varchar), 'none'), ', parent CEG ',
        coalesce(cast(c.parent_ceg_id as varchar), 'none'), ': one of them must be there'
    ) as detail
from cegdb.ceg as c
left join cegdb.staging as g on c.staging_id = g.staging_id
left join cegdb.ceg as p on c.parent_ceg_id = p.ceg_id
where
    (c.staging_id is not null and g.staging_id is null)
    or (c.parent_ceg_id is not null and p.ceg_id is null)
    or (c.staging_id is null and c.parent_ceg_id is null)
union all
select
    'a CEG given evidence shows the tree of its parent' as invariant,
    'ceg' as kind,
    c.name,
    cast(null as bigint) as row_id,
    concat(
        'staging ', coalesce(cast(c.root_staging_id as varchar), 'none'), ', its parent ',
        coalesce(cast(coalesce(p.staging_id, p.root_staging_id) as varchar), 'none')
    ) as detail
from cegdb.ceg as c
inner join cegdb.ceg as p on c.parent_ceg_id = p.ceg_id
where c.root_staging_id is distinct from coalesce(p.staging_id, p.root_staging_id)
union all
select
    'a level belongs to a variable' as invariant,
    'survey' as kind,
    cast(null as varchar) as name,
    cast(l.level_id as bigint) as row_id,
    concat('level ', l.level_id, ' belongs to variable ', l.variable_id, ', which is gone')
        as detail
from cegdb.level as l
left join cegdb.variable as v on l.variable_id = v.variable_id
where v.variable_id is null
order by invariant, kind, name, row_id
