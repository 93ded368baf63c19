-- step:    check_given
-- mode:    fetch
-- purpose: CEGs given evidence whose members are not a part of the tree that contains its root,
--          whose heights are not those of the longest paths, or that lack the evidence or how
--          probable it is (likely, if it is soft).
-- reads:   staging, ceg, vertex, edge, position, position_member, ceg_edge
-- writes:  check_given(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 8 (Probability propagation);
--          docs/architecture.md, section Tables
with members as (
    select
        c.ceg_id,
        c.name,
        g.tree_id,
        m.vertex_id,
        m.position_id
    from cegdb.ceg as c
    inner join cegdb.staging as g on c.root_staging_id = g.staging_id
    inner join cegdb.position_member as m on c.ceg_id = m.ceg_id
    where c.staging_id is null
),

heights as (
    select
        e.ceg_id,
        e.source_id,
        max(t.height) + 1 as height
    from cegdb.ceg_edge as e
    inner join cegdb.ceg as c on e.ceg_id = c.ceg_id
    inner join cegdb.position as t on e.ceg_id = t.ceg_id and e.target_id = t.position_id
    where c.staging_id is null
    group by e.ceg_id, e.source_id
)

select
    'vertices that can be reached are reached from the root' as invariant,
    'ceg' as kind,
    m.name,
    m.vertex_id as row_id,
    concat('vertex ', m.vertex_id, ' has a position, its parent has none') as detail
from members as m
left join cegdb.edge as e on m.tree_id = e.tree_id and m.vertex_id = e.child_id
left join members as p on m.ceg_id = p.ceg_id and e.parent_id = p.vertex_id
where m.vertex_id > 0 and p.vertex_id is null
union all
select
    'leaves, and these alone, are in the sink' as invariant,
    'ceg' as kind,
    m.name,
    m.vertex_id as row_id,
    concat(
        if(v.variable_id is null, 'leaf ', 'situation '), m.vertex_id, ' is in position ',
        m.position_id, ', of ', if(p.stage_id is null, 'no stage', 'a stage')
    ) as detail
from members as m
inner join cegdb.vertex as v on m.tree_id = v.tree_id and m.vertex_id = v.vertex_id
inner join cegdb.position as p on m.ceg_id = p.ceg_id and m.position_id = p.position_id
where (v.variable_id is null) <> (p.stage_id is null)
union all
select
    'the height of a position is its longest path' as invariant,
    'ceg' as kind,
    c.name,
    p.position_id as row_id,
    concat(
        'position ', p.position_id, ' has height ', p.height, ', its longest path ',
        coalesce(h.height, 0), ' edges'
    ) as detail
from cegdb.position as p
inner join cegdb.ceg as c on p.ceg_id = c.ceg_id
left join heights as h on p.ceg_id = h.ceg_id and p.position_id = h.source_id
where c.staging_id is null and p.height <> coalesce(h.height, 0)
union all
select
    'a CEG has evidence if and only if it has a parent' as invariant,
    'ceg' as kind,
    c.name,
    cast(null as bigint) as row_id,
    concat(
        if(c.parent_ceg_id is null, 'no parent, ', 'a parent, '),
        if(c.evidence is null, 'no evidence', 'evidence'), ' of probability ',
        coalesce(cast(c.probability as varchar), 'none'), ' and relative likelihood ',
        coalesce(cast(c.relative_likelihood as varchar), 'none')
    ) as detail
from cegdb.ceg as c
where
    (c.parent_ceg_id is null) <> (c.evidence is null)
    or (c.parent_ceg_id is null) <> (coalesce(c.probability, c.relative_likelihood) is null)
    or (c.probability is not null and c.relative_likelihood is not null)
    or c.probability <= 0
    or c.probability > 1 + 1e-9
    or c.relative_likelihood <= 0
order by invariant, name, row_id, detail
