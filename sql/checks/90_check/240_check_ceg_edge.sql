-- step:    check_ceg_edge
-- mode:    fetch
-- purpose: CEG edges that are not the sum of the edges of their source's situations: the same
--          label must lead all of them to the same position, and the counts must add up.
-- reads:   staging, ceg, edge, level, relabelled_edge, position, position_member, ceg_edge
-- writes:  check_ceg_edge(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  Shenvi & Smith (2020), section 3; docs/architecture.md, section Invariants, no. 2
with answers as (
    select
        c.ceg_id,
        s.position_id as source_id,
        t.position_id as target_id,
        coalesce(r.label_id, l.label_id) as label_id,
        sum(e.n) as n,
        sum(e.weight) as weight,
        count(*) as n_situations
    from cegdb.ceg as c
    inner join cegdb.staging as g
        on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.edge as e on g.tree_id = e.tree_id
    inner join cegdb.level as l on e.level_id = l.level_id
    left join cegdb.relabelled_edge as r
        on g.staging_id = r.staging_id and e.child_id = r.child_id
    inner join cegdb.position_member as s
        on c.ceg_id = s.ceg_id and e.parent_id = s.vertex_id
    inner join cegdb.position_member as t
        on c.ceg_id = t.ceg_id and e.child_id = t.vertex_id
    group by
        c.ceg_id, s.position_id, t.position_id, coalesce(r.label_id, l.label_id)
),

joined as (
    select
        coalesce(x.ceg_id, a.ceg_id) as ceg_id,
        coalesce(x.source_id, a.source_id) as source_id,
        coalesce(x.target_id, a.target_id) as target_id,
        coalesce(x.label_id, a.label_id) as label_id,
        x.n as stored_n,
        x.weight as stored_weight,
        a.n,
        a.weight,
        coalesce(a.n_situations, 0) as n_situations
    from cegdb.ceg_edge as x
    full join answers as a
        on
            x.ceg_id = a.ceg_id
            and x.source_id = a.source_id
            and x.target_id = a.target_id
            and x.label_id = a.label_id
),

wrong as (
    select
        j.*,
        c.name,
        p.n_situations as n_members
    from joined as j
    inner join cegdb.ceg as c on j.ceg_id = c.ceg_id
    left join cegdb.position as p on j.ceg_id = p.ceg_id and j.source_id = p.position_id
    where
        j.stored_n is distinct from j.n
        or j.stored_weight is distinct from j.weight
        or j.n_situations is distinct from p.n_situations
)

select
    'the rows of a CEG edge are those of its situations' as invariant,
    'ceg' as kind,
    name,
    source_id as row_id,
    concat(
        'edge from ', source_id, ' to ', target_id, ', label ', label_id, ': ',
        coalesce(cast(stored_n as varchar), 'no'), ' rows, weight ',
        coalesce(cast(stored_weight as varchar), 'none'), '; its situations have ',
        coalesce(cast(n as varchar), 'no'), ' rows, weight ',
        coalesce(cast(weight as varchar), 'none')
    ) as detail
from wrong
where stored_n is distinct from n or stored_weight is distinct from weight
union all
select
    'the members of a position go to the same positions' as invariant,
    'ceg' as kind,
    name,
    source_id as row_id,
    concat(
        n_situations, ' of ', coalesce(n_members, 0), ' members of position ', source_id,
        ' go to ', target_id, ' by label ', label_id
    ) as detail
from wrong
where n_situations is distinct from n_members
order by invariant, name, row_id, detail
