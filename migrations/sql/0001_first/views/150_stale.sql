create view cegdb.stale as
with tree as (
    select
        t.tree_id,
        t.name,
        s.name as survey
    from cegdb.event_tree as t
    inner join cegdb.survey as o on t.survey_id = o.survey_id
    inner join cegdb.survey as s on o.superseded_by = s.survey_id
),

staging as (
    select
        g.staging_id,
        g.name,
        t.survey
    from cegdb.staging as g
    inner join tree as t on g.tree_id = t.tree_id
)

select
    'tree' as kind,
    name,
    survey
from tree
union all
select
    'staging' as kind,
    name,
    survey
from staging
union all
select
    'ceg' as kind,
    c.name,
    s.survey
from cegdb.ceg as c
inner join staging as s on coalesce(c.staging_id, c.root_staging_id) = s.staging_id;

comment on view cegdb.stale is 'One row per tree, staging or CEG whose survey has changed since it was made; it shows the former rows until it is rebuilt.';
comment on column cegdb.stale.kind is 'tree, staging or ceg.';
comment on column cegdb.stale.name is 'Name of the object.';
comment on column cegdb.stale.survey is 'Name of its survey.';
