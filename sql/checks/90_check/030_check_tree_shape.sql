-- step:    check_tree_shape
-- mode:    fetch
-- purpose: Vertices with no parent or several, edges without one of their ends, and children
--          that are not exactly one edge deeper than their parent. Together with E = V - 1 this
--          proves that the rows form one tree.
-- reads:   event_tree, vertex, edge
-- writes:  check_tree_shape(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 1
with parents as (
    select
        tree_id,
        child_id,
        count(*) as n_parents
    from cegdb.edge
    group by tree_id, child_id
),

joined as (
    select
        e.tree_id,
        e.parent_id,
        e.child_id,
        p.depth as parent_depth,
        c.depth as child_depth
    from cegdb.edge as e
    left join cegdb.vertex as p on e.tree_id = p.tree_id and e.parent_id = p.vertex_id
    left join cegdb.vertex as c on e.tree_id = c.tree_id and e.child_id = c.vertex_id
),

wrong as (
    select *
    from joined
    where parent_depth + 1 is distinct from child_depth or child_depth is null
)

select
    'each vertex but the root has one parent' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat('vertex ', v.vertex_id, ' has ', coalesce(p.n_parents, 0), ' parents') as detail
from cegdb.vertex as v
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
left join parents as p on v.tree_id = p.tree_id and v.vertex_id = p.child_id
where coalesce(p.n_parents, 0) <> if(v.vertex_id = 0, 0, 1)
union all
select
    'the root alone has depth 0' as invariant,
    'tree' as kind,
    t.name,
    v.vertex_id as row_id,
    concat('vertex ', v.vertex_id, ' has depth ', v.depth) as detail
from cegdb.vertex as v
inner join cegdb.event_tree as t on v.tree_id = t.tree_id
where (v.vertex_id = 0) <> (v.depth = 0)
union all
select
    'both ends of an edge are vertices' as invariant,
    'tree' as kind,
    t.name,
    w.child_id as row_id,
    concat(
        'an edge leads from ', if(w.parent_depth is null, 'a missing', 'the'), ' vertex ',
        w.parent_id, ' to ', if(w.child_depth is null, 'a missing', 'the'), ' vertex ',
        w.child_id
    ) as detail
from wrong as w
inner join cegdb.event_tree as t on w.tree_id = t.tree_id
where w.parent_depth is null or w.child_depth is null
union all
select
    'a child is one edge deeper than its parent' as invariant,
    'tree' as kind,
    t.name,
    w.child_id as row_id,
    concat(
        'vertex ', w.child_id, ' has depth ', w.child_depth, ', its parent ', w.parent_id,
        ' depth ', w.parent_depth
    ) as detail
from wrong as w
inner join cegdb.event_tree as t on w.tree_id = t.tree_id
where w.child_depth <> w.parent_depth + 1
order by invariant, name, row_id, detail
