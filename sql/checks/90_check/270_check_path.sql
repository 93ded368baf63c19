-- step:    check_path
-- mode:    fetch
-- purpose: Positions that do not stand for as many vertices of each depth as there are paths to
--          them from the root, and edges that do not lead down. The number of paths of d + 1
--          edges to a position is the sum, over its incoming edges, of the number of paths of d
--          edges to their source. So the vertex counts satisfy this equation at every position
--          and depth if and only if they are the numbers of paths; the paths to the sink are
--          then the leaves. The sums are integers (HUGEINT) no larger than the tree, and need
--          no recursion, which might never end on a damaged graph.
-- reads:   staging, ceg, vertex, position, position_member, ceg_edge
-- writes:  check_path(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 4;
--          docs/theory.md, section 3 (Recovering the staged tree), copies
with members as (
    select
        m.ceg_id,
        m.position_id,
        v.depth,
        count(*) as n_vertices
    from cegdb.position_member as m
    inner join cegdb.ceg as c on m.ceg_id = c.ceg_id
    inner join cegdb.staging as g
        on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
    inner join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
    group by m.ceg_id, m.position_id, v.depth
),

paths as (
    select
        e.ceg_id,
        e.target_id as position_id,
        m.depth + 1 as depth,
        sum(m.n_vertices) as n_paths
    from cegdb.ceg_edge as e
    inner join members as m on e.ceg_id = m.ceg_id and e.source_id = m.position_id
    group by e.ceg_id, e.target_id, m.depth
    union all
    select
        ceg_id,
        0 as position_id,
        0 as depth,
        1 as n_paths
    from cegdb.ceg
)

select
    'a position has as many vertices of a depth as paths from the root' as invariant,
    'ceg' as kind,
    c.name,
    coalesce(p.position_id, m.position_id) as row_id,
    concat(
        coalesce(p.n_paths, 0), ' paths of ', coalesce(p.depth, m.depth),
        ' edges lead to position ', coalesce(p.position_id, m.position_id), ', which has ',
        coalesce(m.n_vertices, 0), ' vertices of that depth'
    ) as detail
from paths as p
full join members as m
    on p.ceg_id = m.ceg_id and p.position_id = m.position_id and p.depth = m.depth
inner join cegdb.ceg as c on coalesce(p.ceg_id, m.ceg_id) = c.ceg_id
where p.n_paths is distinct from m.n_vertices
union all
select
    'an edge of a CEG leads to a lower position' as invariant,
    'ceg' as kind,
    c.name,
    e.source_id as row_id,
    concat(
        'an edge leads from position ', e.source_id, ' of height ',
        coalesce(cast(s.height as varchar), 'unknown'), ' to ', e.target_id, ' of height ',
        coalesce(cast(t.height as varchar), 'unknown')
    ) as detail
from cegdb.ceg_edge as e
inner join cegdb.ceg as c on e.ceg_id = c.ceg_id
left join cegdb.position as s on e.ceg_id = s.ceg_id and e.source_id = s.position_id
left join cegdb.position as t on e.ceg_id = t.ceg_id and e.target_id = t.position_id
where not coalesce(s.height > t.height, false)
order by invariant, name, row_id, detail
