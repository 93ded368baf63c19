-- step:    check_tree_size
-- mode:    fetch
-- purpose: Event trees whose number of edges is not one less than that of vertices, or whose
--          sizes in the catalog differ from those of the tables.
-- reads:   event_tree, vertex, edge
-- writes:  check_tree_size(invariant, kind, name, row_id, detail)
-- params:  none
-- source:  docs/architecture.md, section Invariants, no. 1
with vertices as (
    select
        tree_id,
        count(*) as n_vertices,
        count(variable_id) as n_situations,
        count(*) - count(variable_id) as n_leaves,
        max(height) as height
    from cegdb.vertex
    group by tree_id
),

edges as (
    select
        tree_id,
        count(*) as n_edges
    from cegdb.edge
    group by tree_id
),

sized as (
    select
        t.name,
        t.n_vertices as stored_vertices,
        t.n_situations as stored_situations,
        t.n_leaves as stored_leaves,
        t.height as stored_height,
        coalesce(v.n_vertices, 0) as n_vertices,
        coalesce(v.n_situations, 0) as n_situations,
        coalesce(v.n_leaves, 0) as n_leaves,
        coalesce(v.height, -1) as height,
        coalesce(e.n_edges, 0) as n_edges
    from cegdb.event_tree as t
    left join vertices as v on t.tree_id = v.tree_id
    left join edges as e on t.tree_id = e.tree_id
)

select
    'edges are one fewer than vertices' as invariant,
    'tree' as kind,
    name,
    cast(null as bigint) as row_id,
    concat(n_edges, ' edges and ', n_vertices, ' vertices') as detail
from sized
where n_edges <> n_vertices - 1
union all
select
    'the catalog has the size of a tree' as invariant,
    'tree' as kind,
    name,
    cast(null as bigint) as row_id,
    concat(
        'vertices, situations, leaves, height: the catalog says ',
        concat_ws(', ', stored_vertices, stored_situations, stored_leaves, stored_height),
        '; the tables have ', concat_ws(', ', n_vertices, n_situations, n_leaves, height)
    ) as detail
from sized
where
    stored_vertices <> n_vertices
    or stored_situations <> n_situations
    or stored_leaves <> n_leaves
    or stored_height <> height
order by invariant, name, row_id, detail
