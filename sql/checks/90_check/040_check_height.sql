-- step:    check_height
-- mode:    fetch
-- purpose: Vertices whose height is not the number of edges on the longest path to a leaf,
--          situations without edges, and leaves with edges.
-- reads:   event_tree, vertex, edge
-- writes:  check_height(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/theory.md, section 0 (Notation and definitions);
--          docs/architecture.md, section The algorithm
with below as (
    select
        e.tree_id,
        e.parent_id,
        count(*) as n_edges,
        max(c.height) + 1 as height
    from cegdb.edge as e
    inner join cegdb.vertex as c on e.tree_id = c.tree_id and e.child_id = c.vertex_id
    group by e.tree_id, e.parent_id
),

joined as (
    select
        t.name,
        v.vertex_id,
        v.variable_id is not null as is_situation,
        v.height,
        coalesce(b.n_edges, 0) as n_edges,
        coalesce(b.height, 0) as expected
    from cegdb.vertex as v
    inner join cegdb.event_tree as t on v.tree_id = t.tree_id
    left join below as b on v.tree_id = b.tree_id and v.vertex_id = b.parent_id
),

wrong as (
    select *
    from joined
    where height <> expected or is_situation <> (n_edges > 0)
)

select
    'height is 1 more than that of the highest child, 0 on a leaf' as invariant,
    'tree' as kind,
    name,
    vertex_id as row_id,
    concat('vertex ', vertex_id, ' has height ', height, ', expected ', expected) as detail
from wrong
where height <> expected
union all
select
    'situations alone have a variable and edges' as invariant,
    'tree' as kind,
    name,
    vertex_id as row_id,
    concat(
        'vertex ', vertex_id, ' has ', if(is_situation, 'a', 'no'), ' variable and ',
        n_edges, ' edges'
    ) as detail
from wrong
where is_situation <> (n_edges > 0)
order by invariant, name, row_id, detail
