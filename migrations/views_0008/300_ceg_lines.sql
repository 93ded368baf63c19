-- One row a CEG and each CEG that it comes from by conditioning, itself the first (generation
-- 0), with the staging, tree and survey that they all have in common.
create view cegdb.ceg_lines as
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
