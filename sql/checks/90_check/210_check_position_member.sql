-- step:    check_position_member
-- mode:    fetch
-- purpose: Vertices with no position or several, and members of positions that are not vertices
--          of the tree. In a CEG given evidence, vertices that cannot be reached have no
--          position.
-- reads:   staging, ceg, vertex, position_member
-- writes:  check_position_member(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 2 (Positions and the backward recursion);
--          docs/architecture.md, section Invariants, no. 2
with counted as (
    select
        ceg_id,
        vertex_id,
        count(*) as n_positions
    from cegdb.position_member
    group by ceg_id, vertex_id
)

select
    'a vertex has exactly one position' as invariant,
    'ceg' as kind,
    c.name,
    v.vertex_id as row_id,
    concat('vertex ', v.vertex_id, ' has ', coalesce(n.n_positions, 0), ' positions') as detail
from cegdb.ceg as c
inner join cegdb.staging as g on c.staging_id = g.staging_id
inner join cegdb.vertex as v on g.tree_id = v.tree_id
left join counted as n on c.ceg_id = n.ceg_id and v.vertex_id = n.vertex_id
where coalesce(n.n_positions, 0) <> 1
union all
select
    'the members of a position are vertices' as invariant,
    'ceg' as kind,
    c.name,
    m.vertex_id as row_id,
    concat(
        'vertex ', m.vertex_id, ', which is not in the tree, has the position ',
        m.position_id
    ) as detail
from cegdb.position_member as m
inner join cegdb.ceg as c on m.ceg_id = c.ceg_id
inner join cegdb.staging as g on coalesce(c.staging_id, c.root_staging_id) = g.staging_id
left join cegdb.vertex as v on g.tree_id = v.tree_id and m.vertex_id = v.vertex_id
where v.vertex_id is null
union all
select
    'a vertex has at most one position' as invariant,
    'ceg' as kind,
    c.name,
    n.vertex_id as row_id,
    concat('vertex ', n.vertex_id, ' has ', n.n_positions, ' positions') as detail
from counted as n
inner join cegdb.ceg as c on n.ceg_id = c.ceg_id
where c.staging_id is null and n.n_positions > 1
order by invariant, name, row_id, detail
