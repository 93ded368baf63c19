create view cegdb.ceg_ancestors as
with recursive line as (
    select
        ceg_id,
        ceg_id as ancestor_id,
        parent_ceg_id,
        staging_id,
        0 as generation
    from cegdb.ceg
    union all
    select
        l.ceg_id,
        c.ceg_id as ancestor_id,
        c.parent_ceg_id,
        c.staging_id,
        l.generation + 1 as generation
    from line as l
    inner join cegdb.ceg as c on l.parent_ceg_id = c.ceg_id
)

select
    c.name as ceg,
    a.name as ancestor,
    l.generation,
    g.name as staging,
    t.name as tree,
    l.ceg_id,
    l.ancestor_id,
    s.staging_id,
    t.tree_id,
    t.survey_id
from line as l
inner join cegdb.ceg as c on l.ceg_id = c.ceg_id
inner join cegdb.ceg as a on l.ancestor_id = a.ceg_id
inner join line as s on l.ceg_id = s.ceg_id and s.staging_id is not null
inner join cegdb.staging as g on s.staging_id = g.staging_id
inner join cegdb.event_tree as t on g.tree_id = t.tree_id;

comment on view cegdb.ceg_ancestors is 'One row per CEG and each CEG that it was conditioned from, itself included.';
comment on column cegdb.ceg_ancestors.ceg is 'Name of the CEG.';
comment on column cegdb.ceg_ancestors.ancestor is 'Name of the CEG it comes from.';
comment on column cegdb.ceg_ancestors.generation is 'Number of conditioning steps between them; 0 for the CEG itself.';
comment on column cegdb.ceg_ancestors.staging is 'Name of the staged tree they have in common.';
comment on column cegdb.ceg_ancestors.tree is 'Name of its event tree.';
comment on column cegdb.ceg_ancestors.ceg_id is 'The CEG; joins to ceg.';
comment on column cegdb.ceg_ancestors.ancestor_id is 'ceg_id of the ancestor.';
comment on column cegdb.ceg_ancestors.staging_id is 'The staged tree; joins to staging.';
comment on column cegdb.ceg_ancestors.tree_id is 'The event tree; joins to event_tree.';
comment on column cegdb.ceg_ancestors.survey_id is 'The survey; joins to survey.';
