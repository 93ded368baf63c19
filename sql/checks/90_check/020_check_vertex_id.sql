-- step:    check_vertex_id
-- mode:    fetch
-- purpose: Event trees whose vertex ids are not 0 to V - 1, each once, or are not breadth first
--          and, within a floret, in level order.
-- reads:   event_tree, vertex, edge
-- writes:  check_vertex_id(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Ids
with spread as (
    select
        tree_id,
        count(*) as n_vertices,
        min(vertex_id) as first_id,
        max(vertex_id) as last_id
    from cegdb.vertex
    group by tree_id
),

repeated as (
    select
        tree_id,
        vertex_id,
        count(*) as n_rows
    from cegdb.vertex
    group by tree_id, vertex_id
    having count(*) > 1
)

select
    'vertex ids run from 0 without gaps' as invariant,
    'tree' as kind,
    t.name,
    cast(null as bigint) as row_id,
    concat(s.n_vertices, ' vertices have ids ', s.first_id, ' to ', s.last_id) as detail
from spread as s
inner join cegdb.event_tree as t on s.tree_id = t.tree_id
where s.first_id <> 0 or s.last_id <> s.n_vertices - 1
union all
select
    'a vertex id is used once' as invariant,
    'tree' as kind,
    t.name,
    r.vertex_id as row_id,
    concat(r.n_rows, ' vertices have the id ', r.vertex_id) as detail
from repeated as r
inner join cegdb.event_tree as t on r.tree_id = t.tree_id
union all
select
    'vertex ids go breadth first in level order' as invariant,
    'tree' as kind,
    t.name,
    f.child_id as row_id,
    concat(
        'vertex ', e.child_id, ' is reached from ', e.parent_id, ' by level ', e.level_id,
        ', the next one from ', f.parent_id, ' by level ', f.level_id
    ) as detail
from cegdb.edge as e
inner join cegdb.edge as f on e.tree_id = f.tree_id and e.child_id + 1 = f.child_id
inner join cegdb.event_tree as t on e.tree_id = t.tree_id
where
    f.parent_id < e.parent_id
    or (f.parent_id = e.parent_id and f.level_id <= e.level_id)
order by invariant, name, row_id, detail
